// Package arch tests the rules of the architecture; it contains only tests.
//
// Requests pass from proxy to resolver to a system that answers them. Imports lead down to uri, which imports
// no other package of the module. The compiler cannot check that a domain package does not depend on the
// network, so these tests parse the source of the whole module and report violations with their position:
//
//   - arrows_test.go: which package of the module may import which;
//   - service_test.go: the commands that compile without the packages that serve;
//   - httpclients_test.go: clients of net/http that would bypass the common dialer;
//   - httpserver_test.go: where the server, the requests and the responses of net/http may be used;
//   - variables_test.go: package variables are only set by their declaration;
//   - size_test.go: the maximum length of a file;
//   - comments_test.go: every package has one package comment;
//   - packages_test.go: docs/architecture.md names every package;
//   - settings_test.go: libraries do not name settings in their texts;
//   - fields_test.go: request header fields that are read are listed in one table.
//
// Each consists of a check, usually with a table that it applies, and cases that prove that the check reports
// violations and accepts valid code. They are based on tree_test.go, which reads the files, and names_test.go,
// which resolves identifiers.
//
// # When a check fails
//
// A finding contains the position, the violation and the reason for the rule. First try to avoid the violation:
// take a parameter (a clock, a dialer, a logger, a value of the configuration), declare a small interface where
// it is used, or move the code to a package that may have the dependency; cmd/urnd connects the packages.
// Import rules may be extended, but not weakened.
//
// # Adding a row
//
// A new package needs a row in packageRules: its path from the module root, the packages of the module that it
// may import, and the reason. A rule without a table needs cases for violations and for valid code.
//
// Rules that a linter can check are in .golangci.yml: depguard restricts the imports of third-party packages,
// such as a heavy dependency to one file, and forbidigo restricts names, such as net.Dial and time.Now.
// (gochecknoglobals is not used: it would also forbid constant tables, which checkWrites permits.)
package arch
