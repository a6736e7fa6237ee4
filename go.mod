module github.com/urnd/urnd

go 1.26.0

require github.com/std-uritemplate/std-uritemplate/go/v2 v2.0.3

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	golang.org/x/sys v0.36.0 // indirect
)
