// Package ladder is the yardstick of the matching benchmark: a plain ladder of price levels that matches whole quantities
// and nothing else, and the order streams that it and the exchange's own book are measured on.
//
//	generators, files ─▶ []Record ─▶ Stream ─┬─▶ Ladder ─▶ Totals
//	                                         └─▶ (bench: the exchange's book) ─▶ Totals, which must be the same
//
// The ladder knows all prices of a stream before it begins and computes no amounts and no fees: it is what the exchange's
// book would be if it had to do nothing but match. Streams are functions of their size and seed alone, the same on every
// machine.
//
// The package does not measure anything and knows nothing of the exchange.
package ladder
