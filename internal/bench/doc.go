// Package bench holds urnd against other packages that do a part of its work,
// and against the size of its input; it has no code but tests.
//
// It is a module of its own so that nobody who builds or imports urnd is asked
// to download, to trust and to keep up to date the packages it is compared
// with. For the same reason "go test ./..." of urnd does not see it:
//
//	cd internal/bench && go test . ; go test -run '^$' -bench .
//
// BenchmarkGoals fails as long as urnd is slower than it is meant to be, and
// TestLinear as long as some text takes longer than its length warrants.
package bench
