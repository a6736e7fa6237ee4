package adversary

import (
	"net/http"
	"testing"
)

// TestUnsafeReplies checks that isSafe detects unsafe responses, and accepts correct ones.
func TestUnsafeReplies(t *testing.T) {
	fields := func(more ...string) http.Header {
		h := http.Header{
			"Content-Type": {"text/html; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"},
			"Content-Security-Policy": {"default-src 'none'; style-src 'sha256-a'"},
		}
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	const page = `<!DOCTYPE html><title>t</title><script src="/copy.js"></script><p title="&lt;evil>"><a href="/fetch?uri=//evil.example">a</a>`
	for name, tt := range map[string]struct {
		reply reply
		safe  bool
	}{
		"a page": {reply{200, fields(), page}, true},
		"an image": {
			reply{
				200,
				fields("Content-Type", "image/svg+xml", "Content-Security-Policy",
					"sandbox; default-src 'none'; style-src 'unsafe-inline'"), `<svg><title>&lt;evil></title></svg>`,
			},
			true,
		},
		"a redirect":          {reply{303, http.Header{"Location": {"/evil"}}, ""}, true},
		"an element":          {reply{200, fields(), page + "<evil-a>"}, false},
		"an attribute":        {reply{200, fields(), page + `<p evilattr>`}, false},
		"an event":            {reply{200, fields(), page + `<p onfocus="a">`}, false},
		"a style":             {reply{200, fields(), page + `<p style="color:red">`}, false},
		"a script":            {reply{200, fields(), page + `<script>a</script>`}, false},
		"a URL of a script":   {reply{200, fields(), page + "<a href=' java\tscript:a'>"}, false},
		"a form to elsewhere": {reply{200, fields(), page + `<form action="//evil.example">`}, false},
		"an element of an image": {
			reply{200, fields("Content-Type", "image/svg+xml"), `<svg><evil-a/></svg>`},
			false,
		},
		"an image that is none": {reply{200, fields("Content-Type", "image/svg+xml"), `<svg>`}, false},
		"no policy":             {reply{200, fields("Content-Security-Policy", ""), page}, false},
		"a policy that allows much": {reply{
			200,
			fields("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"), page,
		}, false},
		"a type that may be guessed": {reply{200, fields("X-Content-Type-Options", ""), page}, false},
		"a field":                    {reply{200, fields("Evil", "1"), page}, false},
		"a failure":                  {reply{502, fields(), page}, false},
		"a redirect to elsewhere":    {reply{303, http.Header{"Location": {"//evil.example/"}}, ""}, false},
		"a redirect to a script":     {reply{303, http.Header{"Location": {"javascript:a"}}, ""}, false},
		"a long page":                {reply{200, fields(), page + string(make([]byte, 30_000))}, false},
	} {
		if err := isSafe(tt.reply, false); (err == nil) != tt.safe {
			t.Errorf("%s: %v", name, err)
		}
	}
}
