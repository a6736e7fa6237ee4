// Package promise records what users see of urnd and rely on, one file in testdata for each kind and one line for each
// promise: settings, commands, HTTP interfaces, files, metrics, log records, texts, errors and header fields. The
// package has only tests. They build the program, gather the lines and compare them with the files, so that each
// change of what users see is a line in a diff:
//
//	go test ./internal/promise            compares
//	go test ./internal/promise -update    rewrites the files
//
// Most lines are gathered from outside, from the output of the program and from a daemon that runs with everything
// turned on, so that they outlive any change of the packages. What only the source has (log records, texts, errors) is
// read by go/ast, in source_test.go and its users; what only the packages have (secrets, effects of a reload) in one
// function.
package promise
