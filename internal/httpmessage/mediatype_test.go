package httpmessage_test

import (
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

func TestHasType(t *testing.T) {
	for _, tt := range []struct {
		contentType, pattern string
		want                 bool
	}{
		{"text/html", "text/html", true},
		{"Text/HTML ; charset=utf-8", "text/html", true},
		{"text/html", "Text/*", true},
		{"text/", "text/*", false},
		{"text", "text/*", false},
		{"textual/html", "text/*", false},
		{"application/ld+json", "application/*+json", true},
		{"application/json", "application/*+json", false},
		{"application/+json", "application/*+json", false},
		{"a/json", "application/*+json", false},
		{"image/png", "*/*", false},
		{"image/png", "*", false},
		{"image/png", "image", false},
		{"", "text/*", false},
		{";", "text/*", false},
	} {
		if got := httpmessage.HasType(tt.contentType, []string{"x/y", tt.pattern}); got != tt.want {
			t.Errorf("%q is of %s: %t", tt.contentType, tt.pattern, got)
		}
	}
}
