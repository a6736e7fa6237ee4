package bench

import "testing"

// sample is a text with its name in the results, because slashes and percent signs make bad benchmark names.
type sample struct{ name, text string }

func urnSamples() []sample {
	return []sample{
		{"example", "URN:EXAMPLE:a%2cb:c"},
		{"canonical-ietf", "urn:ietf:rfc:2648"},
		{"canonical-example", "urn:example:a123,z456"},
		// No goal: urnd removes the hyphens and verifies the check digit, which go-urn does not support.
		{"isbn", "URN:ISBN:0-395-36341-1"},
	}
}

func urlSamples() []sample {
	return []sample{
		{"url", "HTTP://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag"},
		{"canonical-url", "http://www.example.com/a/c/~user/?q=1&b=2#frag"},
	}
}

func BenchmarkURNKey(b *testing.B) { compare(b, keys(b), urnSamples()) }

func BenchmarkNormalForm(b *testing.B) { compare(b, normalForms(), urlSamples()) }

func compare(b *testing.B, contenders []contender, samples []sample) {
	for _, c := range contenders {
		for _, s := range samples {
			b.Run(c.name+"/"+s.name, func(b *testing.B) {
				run := c.prepare(s.text)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestContenders pins the results that are compared: if a result differs from urnd's, the other package does a
// part of the work or does it differently.
func TestContenders(t *testing.T) {
	for _, job := range []struct {
		contenders []contender
		text       string
		want       []string // in the order of contenders
	}{
		{keys(t), "URN:EXAMPLE:a%2cb:c", []string{"urn:example:a%2Cb:c", "a%2cb:c", "a%2cb:c", "urn:example:a%2cb:c"}},
		{keys(t), "urn:ietf:rfc:2648", []string{"urn:ietf:rfc:2648", "rfc:2648", "rfc:2648", "urn:ietf:rfc:2648"}},
		{
			keys(t), "URN:ISBN:0-395-36341-1",
			[]string{"urn:isbn:0395363411", "0-395-36341-1", "0-395-36341-1", "urn:isbn:0-395-36341-1"},
		},
		{normalForms(), "HTTP://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag", []string{
			"http://www.example.com/a/c/~user/?q=1&b=2#frag",
			"http://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag",
			"http://www.example.com/a/c/~user/?q=1&b=2#frag",
		}},
	} {
		for i, c := range job.contenders {
			if got, err := c.prepare(job.text)(); err != nil || got != job.want[i] {
				t.Errorf("%s of %s: %q, %v, want %q", c.name, job.text, got, err, job.want[i])
			}
		}
	}
}
