// Package bench compares urnd with other packages that do a part of its work, and
// its run time with the size of its input; it has no code but tests. The command peers, below
// it, compares the daemon with other proxies.
//
// It is a module of its own so that those who build or import urnd do not have to
// download, trust and update the packages that it is compared with. For the same reason "go test ./..." of urnd does not see it:
//
//	cd internal/bench && go test . ; go test -run '^$' -bench .
//
// BenchmarkGoals fails while urnd is slower than its goals, and TestLinear while the
// time for some text grows faster than its length.
package bench
