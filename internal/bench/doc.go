// Package bench compares the performance of urnd with other Go packages for identifiers (RFC 8141, RFC 3986),
// and its run time with the size of its input; it contains only tests. Texts enter; benchmarks report the time
// of each implementation and its ratio to urnd. The command peers, in a folder below, compares the daemon with
// other proxies.
//
// It is a separate module, so that those who build or import urnd do not have to download, trust and update the
// packages it is compared with. Therefore "go test ./..." in urnd does not include it:
//
//	cd internal/bench && go test . ; go test -run '^$' -bench .
//
// BenchmarkGoals fails while urnd is slower than its goals, and TestLinear while the run time for a text grows
// faster than its length.
package bench
