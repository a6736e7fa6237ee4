package file_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/file"
	"github.com/urnd/urnd/resolver/schemetest"
)

func TestSuite(t *testing.T) {
	dir := tree(t)
	schemetest.Run(t, schemetest.Suite{
		New: func(_ testing.TB, _ scheme.Dial, limits scheme.Limits) scheme.Handler {
			return file.New(file.Config{Roots: []string{dir + "/pub"}, Limits: limits, Now: later})
		},
		Resource: func(string) string { return "file://" + dir + "/pub/a.txt" },
		Listing:  func(string) string { return "file://" + dir + "/pub/" },
	})
}
