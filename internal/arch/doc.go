// Package arch has the rules of the architecture as tests; it has no other code.
//
// A request is passed down from proxy to resolver to a system that answers it;
// imports lead down to uri, which imports no other package of the module. The
// compiler cannot check that a domain package does not depend on the network, so
// these tests parse the source of the whole module:
//
//   - arrows_test.go: which package of the module may import which;
//   - service_test.go: what compiles without the packages that serve;
//   - httpclients_test.go: clients of net/http that would bypass the one dialer;
//   - httpserver_test.go: where net/http's server, its requests and its responses may be used;
//   - variables_test.go: package variables are set where they are declared,
//     and never again;
//   - size_test.go: the maximum length of a file;
//   - comments_test.go: every package has one package comment;
//   - packages_test.go: docs/architecture.md names every package;
//   - settings_test.go: libraries do not name settings in their texts;
//   - fields_test.go: fields of requests that are read are in the one table.
//
// Each has a check, most of them with a table that it applies, and cases which
// prove that the check reports violations and accepts valid code. They are based on
// tree_test.go, which reads the files, and names_test.go, which resolves the
// identifiers in them.
//
// # When it fails
//
// A finding has the position, what is there and why that is forbidden. First try
// to do without it: take a parameter (a clock, a dialer, a logger, a value from
// the configuration), declare a small interface where it is used, or move the code
// to a package that may have it; cmd/urnd connects the packages. Extend the rules
// for imports, but do not weaken them.
//
// # Adding a row
//
// A new package needs a row in packageRules: its path from the module root, the
// packages of the module that it may import, and the reason. A rule that is not a row
// needs cases for violations and for valid code.
//
// What a linter can say is in .golangci.yml: depguard says where a package of others
// may be imported, such as a heavy dependency in one file, and forbidigo which names
// may not be used, such as net.Dial and time.Now. (gochecknoglobals is not used: it
// would also forbid tables that nothing changes, which checkWrites tells from the rest.)
package arch
