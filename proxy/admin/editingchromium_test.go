package admin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// A real browser submits the forms without a script, and follows the redirects, under the policy of the
// pages.
func TestEditingInChromium(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	s := newSite(t, nil)
	server := httptest.NewServer(http.HandlerFunc(s.ServeHTTP))
	defer server.Close()
	browser := testserver.StartChromium(t)
	heading := func(want string) {
		t.Helper()
		testserver.Wait(t, want, func() bool {
			var found bool
			browser.Evaluate(t,
				`document.readyState == "complete" && !!document.querySelector("main") && document.querySelector("main").innerText.includes("`+want+`")`, &found)
			return found
		})
	}
	browser.Show(t, server.URL+"/registry/edit", testserver.Screen{Width: 1200, Height: 900})
	browser.Run(t,
		`document.querySelector("#name").value = "urn:nbn:fi:a"; document.querySelector("#t0-uri").value = "https://a.example/"; document.querySelector("#t0-from").value = "2030-01-01T12:30"; document.querySelector("#keywords").value = "a\nb"; document.querySelector("button[value=preview]").click()`)
	heading("Save this change of ")
	browser.Run(t, `document.querySelector("button[value=save]").click()`)
	heading("It is registered: ")
	browser.Run(t, `location.reload()`)
	testserver.Wait(t, "what was done is not said again", func() bool {
		var reported bool
		browser.Evaluate(t,
			`document.readyState == "complete" && !!document.querySelector("main") && !document.querySelector("main").innerText.includes("It is registered: ")`, &reported)
		return reported
	})
	n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t)
	if n.Version != 1 || len(n.Targets) != 1 || n.Targets[0].From.IsZero() || n.Metadata == "" {
		t.Errorf("%+v", n)
	}
	// Submitting an unmodified form changes nothing.
	s.put(t, "urn:nbn:fi:b",
		`{"targets":[{"uri":"https://a.example/","from":"2030-01-01T00:00:00.123Z","until":"2031-01-01T00:00:00Z","note":"a\nb"}],"contact":"a\nb","metadata":{"title":"  x","a":"<&>\n"},"redirect":307}`)
	browser.Show(t, server.URL+"/registry/edit?uri=urn:nbn:fi:b", testserver.Screen{Width: 1200, Height: 900})
	browser.Run(t, `document.querySelector("button[value=preview]").click()`)
	heading("Nothing would change.")
}
