package testserver

import (
	"reflect"
	"testing"
)

// TestParseHTML checks that content is found by elements, independent of their spelling, and that forms are
// submitted as by a browser.
func TestParseHTML(t *testing.T) {
	page := ParseHTML(`<!DOCTYPE html><title>T</title><style>p{}</style><main class=a><p>One &amp;
 <b>two</b><script>no()</script><form CLASS="fields"><input name=h value="a&#10;b"><input type=checkbox name=off value=1><input type=checkbox name=on value=1 checked>
<textarea name=t>
 x
y</textarea><select name=s><option>first<option value=2 selected>second</select><select name=d><option>first<option>second</select><input value=nameless></form></main>`)
	if got, want := page.First("main", "class=a").First("p").Texts(), []string{
		"One &",
		"two",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("texts %q, want %q", got, want)
	}
	if n := len(page.All("b")) + len(page.All("form", "class=fields")) + len(page.All("input", "checked")) +
		len(page.All("main", "class=b")); n != 3 {
		t.Errorf("%d elements", n)
	}
	if page.First("table").Exists() || page.First("table").First("td").Text() != "" ||
		page.First("title").Text() != "T" {
		t.Error("elements that are not there")
	}
	want := map[string][]string{"h": {"a\r\nb"}, "on": {"1"}, "t": {" x\r\ny"}, "s": {"2"}, "d": {"first"}}
	if got := page.First("form").Fields(); !reflect.DeepEqual(map[string][]string(got), want) {
		t.Errorf("fields %q, want %q", got, want)
	}
}
