package template_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/template"
	"github.com/urnd/urnd/resolver/schemetest"
)

func TestSuite(t *testing.T) {
	schemetest.Run(t, schemetest.Suite{
		New: func(testing.TB, scheme.Dial, scheme.Limits) scheme.Handler {
			return template.New(template.Config{Template: "https://g.example/?url={uri}"})
		},
		Resource: func(string) string { return "wais://h/db?a%0D%0ASet-Cookie:b" },
	})
}
