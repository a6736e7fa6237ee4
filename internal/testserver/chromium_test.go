package testserver

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestChromiumContexts checks that tests share a browser with separate contexts, and that it ends with the last
// test.
func TestChromiumContexts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!DOCTYPE html><title>t</title>` + r.Header.Get("Cookie")))
	}))
	t.Cleanup(server.Close)
	var processes [2]*chromiumProcess
	t.Run("shared", func(t *testing.T) {
		pages := []*Chromium{StartChromium(t), StartChromium(t)}
		for i, c := range pages {
			processes[i] = c.session.process
			c.Show(t, server.URL, Screen{Width: 400 + i, Height: 400})
			c.Run(t, `document.cookie = "a=b"`)
		}
		for i, want := range []string{"a=b", ""} {
			c := pages[i]
			if i == 1 {
				c = StartChromium(t)
			}
			c.Show(t, server.URL, Screen{Width: 400, Height: 400})
			var got string
			if c.Evaluate(t, `document.cookie + document.body.textContent`, &got); got != want+want {
				t.Errorf("in page %d the cookie is %q, want %q", i, got, want)
			}
		}
	})
	if processes[0] == nil || processes[0] != processes[1] {
		t.Fatalf("the browsers are %p and %p", processes[0], processes[1])
	}
	if _, err := os.Stat(processes[0].dir); !errors.Is(err, fs.ErrNotExist) || processes[0].process.ended() == nil {
		t.Errorf("the browser has not ended: %v", err)
	}
	if StartChromium(t, "--mute-audio").session.process == StartChromium(t).session.process {
		t.Error("a browser is shared that has other flags")
	}
}

// TestChromiumSighted checks that the activity of a page, and only of that page, is observed.
func TestChromiumSighted(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/quiet":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`<!DOCTYPE html><title>t</title><form action="/went"><input id="a" name="a"><button>go</button></form>`))
		case "/long":
			_, _ = w.Write([]byte(`<!DOCTYPE html><title>t</title><p style="height: 2000px"></p><button onclick="this.textContent = 'clicked'">go</button>`))
		case "/loud":
			w.Header().Set("Content-Security-Policy", "style-src 'none'")
			_, _ = w.Write([]byte(`<!DOCTYPE html><title>t</title><p style="color: red"></p><img src="` +
				elsewhere.URL + `/a.png"><script>console.error("one"); throw "two"</script>`))
		}
	}))
	t.Cleanup(server.Close)
	c, screen := StartChromium(t), Screen{Width: 400, Height: 400}
	c.Show(t, server.URL+"/loud", screen)
	loud := c.Observations(t)
	if !slices.Equal(loud.Requests, []string{server.URL + "/loud", elsewhere.URL + "/a.png"}) ||
		!slices.Equal(loud.Failures, []string{elsewhere.URL + "/a.png: Not Found"}) {
		t.Errorf("%q", loud)
	}
	messages := strings.Join(loud.Messages, "\n")
	for _, want := range []string{"style-src", "console.error: ", "exception: "} {
		if !strings.Contains(messages, want) {
			t.Errorf("no %s in %s", want, messages)
		}
	}
	c.Show(t, server.URL+"/quiet", screen)
	if quiet := c.Observations(t); !slices.Equal(quiet.Requests, []string{server.URL + "/quiet"}) ||
		quiet.Failures != nil || quiet.Messages != nil {
		t.Errorf("%q", quiet)
	}
	c.Press(t, "Tab")
	c.Type(t, "b")
	c.Press(t, "Enter")
	Wait(t, "the form is sent", func() (sent bool) {
		c.Evaluate(t, `location.search === "?a=b"`, &sent)
		return sent
	})
	var runs int
	c.Run(t, `window.runs = 0`)
	c.Run(t, `window.runs++; return {unlike: document}`) // the returned value is ignored
	c.Run(t, `return new Promise(done => setTimeout(() => { window.runs++; done(window) }))`)
	if c.Evaluate(t, `window.runs`, &runs); runs != 2 {
		t.Errorf("statements ran %d times", runs)
	}
	screen.NoScript = true
	c.Show(t, server.URL+"/loud", screen)
	if messages := strings.Join(c.Observations(t).Messages, "\n"); strings.Contains(messages, "console.error") ||
		!strings.Contains(messages, "style-src") {
		t.Errorf("without scripts: %s", messages)
	}
	var media [2]bool
	c.Show(t, server.URL+"/quiet",
		Screen{Width: 400, Height: 400, ForcedColors: true, Print: true, ReducedMotion: true})
	c.Evaluate(t,
		`[matchMedia("print and (forced-colors: active) and (prefers-reduced-motion)").matches, matchMedia("(prefers-color-scheme: dark)").matches]`, &media)
	if media != [2]bool{true, false} {
		t.Errorf("%v", media)
	}
	c.Show(t, server.URL+"/long", Screen{Width: 400, Height: 400})
	c.Click(t, "button")
	var clicked string
	if c.Evaluate(t, `document.querySelector("button").textContent`, &clicked); clicked != "clicked" {
		t.Errorf("below the window: %s", clicked)
	}
}
