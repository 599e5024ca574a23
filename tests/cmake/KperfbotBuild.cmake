# SPDX-License-Identifier: GPL-3.0-or-later
# Compiler flags, and the functions that every folder's CMakeLists.txt is made of:
#
#   kb_library(NAME [PURE] SOURCES ... HEADERS ... LINK ...)  one static library per folder;
#       LINK is exactly the arrows of ARCHITECTURE.md. PURE: also -Wconversion, and a test that
#       looks with nm at what the library calls.
#   kb_program(NAME SOURCES ... LINK ...)        a program in bin/
#   kb_static_program(NAME [FIXED] SOURCES ... LINK ...) a static program without sanitizers, for
#       lab machines. FIXED: always at the same address, so that runs can be compared.
#   kb_test(LABEL MODULE SOURCES ... LINK ...)   a cmocka test that ctest calls LABEL.MODULE

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

set(KPERFBOT_SANITIZE "" CACHE STRING "value of -fsanitize= for everything but static programs")
option(KPERFBOT_COVERAGE "instrument with gcov" OFF)
option(KPERFBOT_FUZZ "build the libFuzzer targets (clang)" OFF)

include_directories("${CMAKE_SOURCE_DIR}")
add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64 KPERFBOT_VERSION="${PROJECT_VERSION}")

set(KB_WARNINGS
	-Wall -Wextra -Werror -Wshadow -Wvla -Wundef -Wformat=2 -Wstrict-prototypes
	-Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wimplicit-fallthrough -Wnull-dereference)
add_compile_options(${KB_WARNINGS})
add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection)
add_compile_options($<$<CONFIG:RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
add_link_options(-Wl,-z,relro,-z,now)
# Places where tests make the program fail; see bot/base/failpoint.h.
add_compile_definitions($<$<CONFIG:Debug>:KPERFBOT_WITH_FAILPOINTS>)

# Static programs never carry a sanitizer: its run-time cannot be linked static.
set(KB_INSTRUMENT "")
if(KPERFBOT_SANITIZE)
	list(APPEND KB_INSTRUMENT -fsanitize=${KPERFBOT_SANITIZE} -fno-omit-frame-pointer)
	if(KPERFBOT_SANITIZE MATCHES "undefined")
		list(APPEND KB_INSTRUMENT -fno-sanitize-recover=undefined)
	endif()
	# gcc reports false null dereferences in the checks that the sanitizers add.
	add_compile_options(-Wno-null-dereference)
endif()
if(KPERFBOT_COVERAGE)
	list(APPEND KB_INSTRUMENT --coverage)
endif()
if(KPERFBOT_FUZZ)
	list(APPEND KB_INSTRUMENT -fsanitize=fuzzer-no-link)
endif()

find_package(PkgConfig REQUIRED)
set(KB_PKGS
	LIBGIT2 libgit2
	LIBPQ libpq
	JANSSON jansson
	GSL gsl
	GMIME gmime-3.0
	SYSTEMD libsystemd
	CURL libcurl
	MHD libmicrohttpd
	CRYPTO libcrypto
	CMOCKA cmocka)
while(KB_PKGS)
	list(POP_FRONT KB_PKGS kb_var kb_pkg)
	pkg_check_modules(${kb_var} REQUIRED IMPORTED_TARGET GLOBAL ${kb_pkg})
endwhile()

function(kb_library name)
	cmake_parse_arguments(A "PURE" "" "SOURCES;HEADERS;LINK" ${ARGN})
	add_library(${name} STATIC ${A_SOURCES})
	if(A_HEADERS)
		target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${CMAKE_SOURCE_DIR}"
			FILES ${A_HEADERS})
	endif()
	target_link_libraries(${name} PUBLIC ${A_LINK})
	target_compile_options(${name} PRIVATE ${KB_INSTRUMENT})
	target_link_options(${name} PUBLIC ${KB_INSTRUMENT})
	if(A_PURE)
		# clang's INFINITY and NAN are float constants, so it would complain about each of them.
		target_compile_options(${name} PRIVATE -Wconversion
			$<$<C_COMPILER_ID:GNU>:-Wdouble-promotion>)
		# What it may call besides: its neighbours, which have to be pure too.
		set(neighbours "")
		foreach(link IN LISTS A_LINK)
			if(TARGET ${link} AND NOT link MATCHES "::")
				get_target_property(of_link ${link} KB_PURE)
				if(NOT of_link)
					message(FATAL_ERROR "pure library ${name} links ${link}, which is not pure")
				endif()
				list(APPEND neighbours ${of_link})
			endif()
		endforeach()
		list(REMOVE_DUPLICATES neighbours)
		set_target_properties(${name} PROPERTIES KB_PURE "${name};${neighbours}")
		list(TRANSFORM neighbours REPLACE "(.+)" "$<TARGET_FILE:\\1>")
		add_test(NAME unit.${name}_is_pure
			COMMAND "${CMAKE_SOURCE_DIR}/tests/unit/pure" $<TARGET_FILE:${name}> ${neighbours})
		set_tests_properties(unit.${name}_is_pure PROPERTIES LABELS unit TIMEOUT 30)
	endif()
endfunction()

function(kb_program name)
	cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
	add_executable(${name} ${A_SOURCES})
	target_link_libraries(${name} PRIVATE ${A_LINK})
	target_compile_options(${name} PRIVATE ${KB_INSTRUMENT})
	target_link_options(${name} PRIVATE ${KB_INSTRUMENT} -pie)
	install(TARGETS ${name})
endfunction()

function(kb_static_program name)
	cmake_parse_arguments(A "FIXED" "" "SOURCES;LINK" ${ARGN})
	add_executable(${name} ${A_SOURCES})
	target_link_libraries(${name} PRIVATE ${A_LINK})
	target_compile_options(${name} PRIVATE -O2)
	if(A_FIXED)
		set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
		target_link_options(${name} PRIVATE -static)
	else()
		target_link_options(${name} PRIVATE -static-pie)
	endif()
	install(TARGETS ${name})
endfunction()

function(kb_test label module)
	cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
	set(target test_${label}_${module})
	add_executable(${target} ${A_SOURCES})
	target_link_libraries(${target} PRIVATE ${A_LINK} PkgConfig::CMOCKA)
	target_compile_options(${target} PRIVATE ${KB_INSTRUMENT})
	target_link_options(${target} PRIVATE ${KB_INSTRUMENT})
	target_compile_definitions(${target} PRIVATE
		TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TEST_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
	set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
	if(NOT A_TIMEOUT)
		set(A_TIMEOUT 120)
	endif()
	add_test(NAME ${label}.${module} COMMAND ${target})
	set_tests_properties(${label}.${module} PROPERTIES LABELS ${label} TIMEOUT ${A_TIMEOUT}
		SKIP_RETURN_CODE 77
		ENVIRONMENT "ASAN_OPTIONS=allow_user_segv_handler=0;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()
