package nntp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// TestThreadDepth requires that no thread exceeds maxDepth, in any order of the articles.
func TestThreadDepth(t *testing.T) {
	const many = 20_000
	forward, backward := make([]overview, many), make([]overview, many)
	for i := range many {
		o := overview{id: fmt.Sprintf("<%d@h>", i), references: []string{fmt.Sprintf("<%d@h>", i-1)}}
		forward[i], backward[many-1-i] = o, o
	}
	for name, articles := range map[string][]overview{"forward": forward, "backward": backward} {
		parents, roots := parentsOf(articles), 0
		for i := range parents {
			depth := 0
			for at := parents[i]; at != none && depth <= maxDepth; at = parents[at] {
				depth++
			}
			if depth > maxDepth {
				t.Fatalf("%s: article %d is deeper than %d", name, i, maxDepth)
			}
			if parents[i] == none {
				roots++
			}
		}
		if want := (many + maxDepth) / (maxDepth + 1); roots != want || len(rootsOf(parents)) != want {
			t.Errorf("%s: %d threads, want %d", name, roots, want)
		}
	}
}

// bomb returns an article of nested multiparts without leaves, n in each.
func bomb(n, depth int) string {
	if depth == 0 {
		return "\n"
	}
	head := fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n", depth)
	return head + strings.Repeat(fmt.Sprintf("--b%d\n", depth)+bomb(n, depth-1), n) + fmt.Sprintf("--b%d--\n", depth)
}

// TestBomb requires that multiparts without leaves count towards the limit, and that parsing stops when ctx
// ends.
func TestBomb(t *testing.T) {
	const empty = "Content-Type: multipart/mixed; boundary=e\n\n--e--\n"
	text := strings.ReplaceAll(bomb(60, 2), "--b1\n\n", "--b1\n"+empty)
	for _, calls := range []int{1 << 20, 2} {
		ended := func() error {
			if calls--; calls < 0 {
				return context.Canceled
			}
			return nil
		}
		e, err := readEntity(&untilEnd{strings.NewReader(text), ended})
		if err != nil {
			t.Fatal(err)
		}
		c := collector{left: 1 << 20}
		c.add(e, "", 0)
		if want := maxEntities; calls >= 0 && c.entities != want || calls < 0 && c.entities >= want {
			t.Errorf("%d entities, want %d; the context has ended: %t", c.entities, want, calls < 0)
		}
	}
}

// TestPortTLS: the port is a number, which may have leading zeros.
func TestPortTLS(t *testing.T) {
	for text, want := range map[string]bool{
		"news://h:563/g": true, "news://h:0563/g": true, "news://h:5630/g": false,
		"news://h/g": false,
	} {
		u, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		target, err := New(Config{}).newTarget(scheme.Request{Request: httpmessage.Request{URI: u}})
		if err != nil || target.servers[0].TLS != want {
			t.Errorf("%s: %+v, %v", text, target.servers, err)
		}
	}
}
