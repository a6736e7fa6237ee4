package bench

import "testing"

// sample is a text and the name it has in the results: texts with slashes and
// percent signs make bad names of benchmarks.
type sample struct{ name, text string }

func urnSamples() []sample {
	return []sample{
		{"example", "URN:EXAMPLE:a%2cb:c"},
		{"canonical-ietf", "urn:ietf:rfc:2648"},
		{"canonical-example", "urn:example:a123,z456"},
		// No goal: urnd takes the hyphens away and checks the check digit, and
		// go-urn knows of neither.
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

// TestContenders pins what is compared: where a result differs from urnd's, the
// peer does a part of the work or does it otherwise.
func TestContenders(t *testing.T) {
	for _, job := range []struct {
		contenders []contender
		text       string
		want       []string // in the order of contenders
	}{
		{keys(t), "URN:EXAMPLE:a%2cb:c", []string{"urn:example:a%2Cb:c", "a%2cb:c", "a%2cb:c", "urn:example:a%2cb:c"}},
		{keys(t), "urn:ietf:rfc:2648", []string{"urn:ietf:rfc:2648", "rfc:2648", "rfc:2648", "urn:ietf:rfc:2648"}},
		{keys(t), "URN:ISBN:0-395-36341-1", []string{"urn:isbn:0395363411", "0-395-36341-1", "0-395-36341-1", "urn:isbn:0-395-36341-1"}},
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
