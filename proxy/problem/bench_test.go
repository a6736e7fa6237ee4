package problem_test

import (
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// BenchmarkReply renders replies to a missing name, and to an invalid one, as a document and as a German page.
func BenchmarkReply(b *testing.B) {
	design := pages.New(pages.Site{})
	_, invalid := uri.ParseURN("urn:example:")
	for name, err := range map[string]error{
		"unknown": &resolver.Negative{
			Kind: resolver.ErrNotFound, Reason: "no rule", Code: "no_rule_of_namespace",
			Values: []string{"Namespace", "example"}, TTL: resolver.Forever,
		},
		"invalid": invalid,
	} {
		for form, fields := range map[string]httpmessage.Header{
			"document": httpmessage.NewFields("Accept", "application/json").Values,
			"page":     httpmessage.NewFields("Accept", "text/html", "Accept-Language", "de").Values,
		} {
			b.Run(name+"/"+form, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					problem.Reply(design, fields, err)
				}
			})
		}
	}
}
