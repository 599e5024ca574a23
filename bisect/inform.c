/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a measurement is expected to tell. */
#include "bisect/inform.h"

#include <math.h>

#define INFO_POINTS 72

/*
 * One bell of sum 1 on the points, added to @mix times its share. Values of a bell on even steps
 * follow from each other by two products; its logarithm is a parabola.
 * Return: sum of density times its binary logarithm.
 */
static double bell(double share, double first, double step, double *mix)
{
	double d[INFO_POINTS];
	double at = fmax(0, ceil((-6 - first) / step));
	double end = fmin(INFO_POINTS - 1, floor((6 - first) / step));
	double z = first + at * step;
	double value = exp(-0.5 * z * z);
	double ratio = exp(-z * step - 0.5 * step * step);
	const double more = exp(-step * step);
	double sum = 0;
	double squares = 0;

	for (size_t i = (size_t)at; i <= (size_t)end; i++) {
		sum += d[i] = value;
		squares += value * z * z;
		value *= ratio;
		ratio *= more;
		z += step;
	}
	for (size_t i = (size_t)at; i <= (size_t)end; i++)
		mix[i] += share / sum * d[i];
	return -0.5 * M_LOG2E * squares / sum - log2(sum);
}

/*
 * By sums over points.
 * No component is narrower than the spacing, or it could fall between two points.
 */
double bisect_outlook_bits(const struct bisect_outlook *f, double extra_var)
{
	double mix[INFO_POINTS] = { 0 };
	double lo = INFINITY;
	double hi = -INFINITY;
	double total = 0;
	double bits = 0;
	double h;

	for (size_t k = 0; k < f->n; k++) {
		double sd = sqrt(f->items[k].var + extra_var);

		lo = fmin(lo, f->items[k].mean - 4 * sd);
		hi = fmax(hi, f->items[k].mean + 4 * sd);
		total += f->items[k].weight;
	}
	h = (hi - lo) / (INFO_POINTS - 1);
	for (size_t k = 0; k < f->n; k++) {
		const struct bisect_component *c = &f->items[k];
		double sd = fmax(sqrt(c->var + extra_var), 0.7 * h);
		double share = c->weight / total;

		bits += share * bell(share, (lo - c->mean) / sd, h / sd, mix);
	}
	for (size_t i = 0; i < INFO_POINTS; i++)
		if (mix[i] > 0)
			bits -= mix[i] * log2(mix[i]);
	return bits * total;
}
