package nntp_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/nntp"
)

// serve starts a server that replies to commands by prefix; others are unknown to it.
func serve(t *testing.T, replies ...string) nntp.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn, replies)
		}
	}()
	return nntp.Server{Address: l.Addr().String()}
}

func answer(conn net.Conn, replies []string) {
	defer conn.Close()
	conn.Write([]byte(replies[0] + "\r\n"))
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		reported := "500 what?"
		for i := 1; i < len(replies); i += 2 {
			if strings.HasPrefix(lines.Text(), replies[i]) {
				reported = replies[i+1]
				break
			}
		}
		conn.Write([]byte(reported + "\r\n"))
	}
}

// TestOldServer: RFC 977 has neither capabilities nor patterns, RFC 2980 has XOVER.
func TestOldServer(t *testing.T) {
	c := config(serve(t, "201 old", "LIST ACTIVE", "501 no", "LIST NEWS", "503 no", "LIST",
		"215 list\r\na.b 2 1 y\r\nb.c 0 1 n\r\n.",
		"GROUP a.b", "211 2 1 2 a.b", "XOVER 1-2",
		"224 x\r\n1\tone\tf\td\t<1@h>\t\t5\t1\r\n2\ttwo\t\t\t<2@h>\t<1@h>\r\ngarbage\r\n."))
	if l := listing(t, c, "news:a.*"); len(l.Items) != 1 || *l.Items[0].Count != 2 {
		t.Errorf("%+v", l)
	}
	if l := listing(t, c, "news:a.b"); len(l.Items) != 2 || l.Items[1].Depth != 1 || l.Items[0].URI != "news:1@h" {
		t.Errorf("%+v", l)
	}
}

// TestHierarchies: if the groups fill more than a page, they are listed by the next component of their names.
func TestHierarchies(t *testing.T) {
	list := "215 list"
	for _, name := range []string{
		"comp.lang.c", "comp.lang.go", "comp.os", "alt.a", "alt.b", "alt.c.d", "local",
		"de.alone", "comp.lang.c.moderated",
	} {
		list += "\r\n" + name + " 2 1 y"
	}
	all := serve(t, "200 x", "LIST ACTIVE", list+"\r\n.", "LIST NEWS", "503 no")
	for page, tests := range map[int]map[string]string{
		3: {
			"news:*":      "alt.* news:alt.*|comp.* news:comp.*|de.alone news:de.alone|local news:local",
			"news:comp.*": "comp.lang.* news:comp.lang.*|comp.os news:comp.os",
			"news:comp.lang*": "comp.lang.c news:comp.lang.c|comp.lang.c.moderated " +
				"news:comp.lang.c.moderated|comp.lang.go news:comp.lang.go",
			"news:alt.*": "alt.a news:alt.a|alt.b news:alt.b|alt.c.d news:alt.c.d",
		},
		100: {"news:comp.*": "comp.lang.c news:comp.lang.c|comp.lang.c.moderated " +
			"news:comp.lang.c.moderated|comp.lang.go news:comp.lang.go|comp.os news:comp.os"},
	} {
		c := config(all)
		c.PageSize = page
		for url, want := range tests {
			var got []string
			l := listing(t, c, url)
			for _, item := range l.Items {
				got = append(got, item.Name+" "+item.URI)
			}
			if strings.Join(got, "|") != want || l.Incomplete != "" {
				t.Errorf("%s by %d: %q, %q", url, page, got, l.Incomplete)
			}
		}
	}
}

// TestServers: the next server is tried if one is unavailable or lacks the target; any other error is reported.
func TestServers(t *testing.T) {
	has := serve(t, "200 x", "ARTICLE <a@b>", "220 0 <a@b>\r\nSubject: s\r\n\r\nt\r\n.")
	lacks := serve(t, "200 x", "ARTICLE", "430 no")
	busy := serve(t, "400 busy")
	gone := nntp.Server{Address: "127.0.0.1:1"}
	if l := listing(t, config(gone, busy, lacks, has), "news:a@b"); l.Title != "s" {
		t.Errorf("%+v", l)
	}
	if got := status(t, config(lacks, busy), "news:a@b"); got != http.StatusServiceUnavailable {
		t.Errorf("got %d", got)
	}
	if got := status(t, config(lacks), "news:a@b"); got != http.StatusNotFound {
		t.Errorf("got %d", got)
	}
	if _, err := fetch(t, config(), "news:a@b"); !errors.Is(err, scheme.ErrDisabled) {
		t.Errorf("no server: %v", err)
	}
}

// TestVaryByLogin: a response stored for all clients must not be served to a client that sends Authorization.
func TestVaryByLogin(t *testing.T) {
	c := config(serve(t, "200 x", "ARTICLE <a@b>", "220 0 <a@b>\r\nSubject: s\r\n\r\nt\r\n.", "GROUP", "211 0 0 0 g"))
	for _, text := range []string{"news:a@b", "news:g"} {
		if resource, err := fetch(t, c, text); err != nil || resource.Fields.Get("Vary") != "Authorization" {
			t.Errorf("%s: %+v, %v", text, resource, err)
		}
	}
}

// TestHostile has servers that violate the protocol.
func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		name string
		want error
		say  []string
	}{
		{"no code", scheme.ErrInvalidResponse, []string{"SSH-2.0"}},
		{"an endless reply", scheme.ErrInvalidResponse, []string{"200 " + strings.Repeat("x", 1<<17)}},
		{"an odd group", scheme.ErrInvalidResponse, []string{"200 x", "GROUP", "211 many"}},
		{
			"a long line", scheme.ErrInvalidResponse,
			[]string{"200 x", "GROUP", "211 1 1 1 g", "XOVER", "224 x\r\n" + strings.Repeat("x", 1<<17)},
		},
		{"another reply", scheme.ErrInvalidResponse, []string{"200 x", "GROUP", "340 post"}},
	} {
		if _, err := fetch(t, config(serve(t, tt.say...)), "news:g"); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if got := status(t, config(), "nntp://a%0D%0AQUIT@127.0.0.1:1119/g"); got != http.StatusBadRequest {
		t.Errorf("a line end in a user: %d", got)
	}
	if _, err := fetch(t, config(nntp.Server{Address: "127.0.0.1:1"}), "news:g"); err == nil ||
		errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// TestEmbedded: embedded files are parts of an article.
func TestEmbedded(t *testing.T) {
	const article = "220 0 <a@b>\r\nSubject: s\r\n\r\nbefore\r\nbegin 644 " +
		"cat.txt\r\n#0V%T\r\n`\r\nend\r\nafter\r\n.\r\n"
	c := config(serve(t, "200 x", "ARTICLE <a@b>", strings.TrimSuffix(article, "\r\n")))
	l := listing(t, c, "news:a@b")
	if l.Text != "before\nafter\n" || len(l.Items) != 2 || l.Items[0].Name != "cat.txt" ||
		l.Items[0].URI != "news:a@b?part=1.1" || *l.Items[0].Size != 3 {
		t.Fatalf("%+v", l)
	}
	r, err := fetch(t, c, "news:a@b?part=1.1")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close() // the server accepts one connection at a time
	if err != nil || string(body) != "Cat" || r.Fields.Get("Content-Disposition") != "attachment; filename=cat.txt" ||
		r.ContentLength != 3 {
		t.Errorf("%q, %v, %+v", body, err, r)
	}
	if got := status(t, c, "news:a@b?part=1.2"); got != http.StatusNotFound {
		t.Errorf("a file that there is not: %d", got)
	}
}

// TestGreeting covers RFC 3977 section 5.1; some servers send 503 as in HTTP.
func TestGreeting(t *testing.T) {
	for greeting, want := range map[string]int{"400 busy": 503, "502 not for you": 403, "503 overloaded": 503} {
		if got := status(t, config(serve(t, greeting)), "news:a@b"); got != want {
			t.Errorf("%s: %d, want %d", greeting, got, want)
		}
	}
}
