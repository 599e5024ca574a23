/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/nametab.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <string.h>

void nametab_done(struct nametab *t)
{
	for (size_t i = 0; i < t->len; i++)
		free(t->name[i]);
	free(t->name);
	free(t->length);
	free(t->hash);
	free(t->slot);
	*t = (struct nametab){ 0 };
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Eight bytes a step, each step multiplied through: as in wyhash by Wang Yi, public domain. */
static uint64_t hash_of(const char *s, size_t len, uint64_t seed)
{
	uint64_t h = seed ^ mix(len ^ UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db));

	while (len) {
		uint64_t w = 0;
		size_t n = len < sizeof(w) ? len : sizeof(w);

		memcpy(&w, s, n);
		h = mix(h ^ w ^ UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3) ^ seed);
		s += n;
		len -= n;
	}
	return mix(h, UINT64_C(0x1d8e4e27c47d124f));
}

uint64_t nametab_seed(const char *text, size_t len)
{
	return hash_of(text, len, 0);
}

/* Slot of the name, or the empty one where it would go. */
static size_t slot_of(const struct nametab *t, const char *name, size_t len, uint64_t hash)
{
	size_t i = (size_t)hash & (t->nslots - 1);

	while (t->slot[i]) {
		size_t at = t->slot[i] - 1;

		if (t->hash[at] == hash && t->length[at] == len && !memcmp(t->name[at], name, len))
			break;
		i = (i + 1) & (t->nslots - 1);
	}
	return i;
}

size_t nametab_find(const struct nametab *t, const char *name, size_t len)
{
	size_t i;

	if (!t->nslots)
		return SIZE_MAX;
	i = slot_of(t, name, len, hash_of(name, len, t->seed));
	return t->slot[i] ? t->slot[i] - 1 : SIZE_MAX;
}

/* Half of the slots at most are in use. */
static void grow(struct nametab *t)
{
	free(t->slot);
	t->nslots = t->nslots ? 2 * t->nslots : 64;
	t->slot = xcalloc(t->nslots, sizeof(*t->slot));
	for (size_t k = 0; k < t->len; k++) {
		size_t i = slot_of(t, t->name[k], t->length[k], t->hash[k]);

		t->slot[i] = (uint32_t)k + 1;
	}
}

size_t nametab_get(struct nametab *t, const char *name, size_t len)
{
	uint64_t hash = hash_of(name, len, t->seed);
	size_t i;

	if (2 * t->len >= t->nslots)
		grow(t);
	i = slot_of(t, name, len, hash);
	if (t->slot[i])
		return t->slot[i] - 1;
	if (t->len == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->name = xreallocarray(t->name, t->cap, sizeof(*t->name));
		t->length = xreallocarray(t->length, t->cap, sizeof(*t->length));
		t->hash = xreallocarray(t->hash, t->cap, sizeof(*t->hash));
	}
	t->name[t->len] = xstrndup(name, len);
	t->length[t->len] = (uint32_t)len;
	t->hash[t->len] = hash;
	t->slot[i] = (uint32_t)++t->len;
	return t->len - 1;
}
