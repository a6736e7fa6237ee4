// Package arch holds the law of the house as tests; it has no other code.
//
// The law is: data flows one way, knowledge points the other way. A request
// goes down from proxy to resolver to a system that answers; imports point to
// the vocabulary at the bottom, uri. A compiler cannot see that a domain
// package must not know the network, so these tests read the source of the
// whole module and say so:
//
//   - arrows_test.go: which package of ours may import which (the rooms);
//   - imports_test.go: where a foreign or standard package may be imported;
//   - constructs_test.go: names and shapes that are forbidden, such as
//     net.Dial outside the one dialer, init functions and panics;
//   - variables_test.go: package variables are set where they are declared,
//     and never again;
//   - size_test.go: how long a file may be;
//   - comments_test.go: every package says in one place what it is.
//
// Each is one table, the check that reads it, and cases that prove that the
// check fires on a fault and is silent on innocent code. Below them lie
// tree_test.go, which reads the files, and names_test.go, which tells what the
// identifiers in them stand for.
//
// # When it fails
//
// A finding names the place, what stands there and why that is not wanted. Try
// first to do without: take the thing as a parameter (a clock, a dialer, a
// logger, a value from the configuration), declare a small interface where it
// is used, or move the code to the room that may have it; cmd/urnd joins the
// parts. The arrow test is the law; extend it, never loosen it.
//
// # Adding a row
//
// A new package needs a row in rooms: its path from the module root, what it
// may import of ours, and the reason. A new heavy dependency gets a row in
// importRules that keeps it in one file. A new bad habit gets a row in
// constructs. The sweep tests exercise every row of those two tables; a rule
// that is not a row needs cases that fire and cases that do not.
package arch
