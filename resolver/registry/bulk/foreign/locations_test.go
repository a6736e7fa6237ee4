package foreign

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// Conversions of locations (Handle.net technical manual, chapter 5.3).
func TestHandleLocations(t *testing.T) {
	for text, want := range map[string]string{
		`<locations><location href="https://a.example/"/></locations>`:                           "https://a.example/",
		`<locations><location href="https://a.example/" country="de"/></locations>`:              "https://a.example/ context DE",
		`<locations><location href="https://a.example/" title="A &lt;b&gt; &amp;"/></locations>`: "https://a.example/ title A <b> &",
		`<locations><location href_template="https://a.example/{hdl}?h={hdl}"/></locations>`:     "https://a.example/1/%C3%A4%20b%3F?h=1/%C3%A4%20b%3F",
		`<locations><location href="https://a.example/0" weight="0"/><location href="https://a.example/1" weight="0.5"/>` +
			`<location href="https://a.example/2" weight="-1"/><location href="https://a.example/3"/></locations>`: "https://a.example/0 2|" +
			"https://a.example/1 1|https://a.example/2 2|https://a.example/3|lost random",
		`<locations><location href="https://a.example/" rel="Not One" type="pdf" language="?"/></locations>`: "https://a.example/ " +
			"note type=pdf, language=?, rel=Not One|lost note|lost note|lost note",
		`<locations><location href="https://a.example/" type="application/pdf" http_role="conneg"/></locations>`: "https://a.example/ type application/pdf",
		`<locations><location/></locations>`:                     "lost address",
		`<locations><location href_template="{x}"/></locations>`: "lost template",
		`<locations`: "lost XML",
		`<other><location href="https://a.example/"/></other>`:              "lost XML",
		"<locations>" + strings.Repeat("<location/>", 101) + "</locations>": "lost more than 100 locations",
		strings.Repeat(" ", maxHandleLocations+1):                           "lost bytes",
	} {
		i := newItem(1, "")
		i.locations("value 2", "1/ä b?", text)
		var got []string
		for _, target := range i.Entry.Targets {
			words := target.URI
			for _, f := range [...][2]string{
				{"type", target.Type},
				{"context", target.Context},
				{"title", target.Title},
				{"note", target.Note},
			} {
				if f[1] != "" {
					words += " " + f[0] + " " + f[1]
				}
			}
			if target.Priority != 0 {
				words += fmt.Sprintf(" %d", target.Priority)
			}
			got = append(got, words)
		}
		lost := strings.Split(want, "|")
		for _, unmapped := range i.Unmapped {
			reason := unmapped.String()
			found := "lost " + reason
			for _, word := range lost {
				if rest, ok := strings.CutPrefix(word, "lost "); ok && strings.Contains(reason, rest) {
					found = word
				}
			}
			if strings.Contains(found, "chance") { // losses that concern all locations come last
				defer func(reason string) {
					if !strings.Contains(reason, "2 locations") {
						t.Error(reason)
					}
				}(reason)
			}
			got = append(got, found)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%.100s: %s\nwant %s", text, strings.Join(got, "|"), want)
		}
	}
}

// A URL value that is also a location makes one target, in either order.
func TestHandleLocationsOfURL(t *testing.T) {
	const text = `<locations><location href="https://a.example/" language="de" weight="0"/><location href="https://b.example/"/></locations>`
	for _, first := range []bool{true, false} {
		i := newItem(1, "")
		if first {
			i.locate(registry.Target{URI: "https://a.example/"})
		}
		i.locations("", "", text)
		if !first {
			i.locate(registry.Target{URI: "https://a.example/"})
		}
		if len(i.Entry.Targets) != 2 ||
			i.Entry.Targets[0] != (registry.Target{URI: "https://a.example/", Language: "de", Priority: 1}) {
			t.Errorf("%+v", i.Entry.Targets)
		}
	}
}

// Any text makes at most registry.MaxTargets targets, with notes within their bound.
func FuzzHandleLocations(f *testing.F) {
	for _, text := range []string{
		`<locations chooseby="country" http_sc="301"><location id="0" href="https://a.example/" weight="1" country="de" x="y"/></locations>`,
		`<locations><location href_template="https://a.example/{hdl}" http_role="conneg"/></locations>`, "<a",
		"<!DOCTYPE a><locations>&b;</locations>",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		of, err := parseHandleLocations(text)
		if err != nil && len(of.Locations) > registry.MaxTargets && errors.Is(err, errLongLocations) {
			t.Errorf("%d locations", len(of.Locations))
		}
		i := newItem(1, "")
		i.locations("", "20.500.1/a", text)
		if len(i.Entry.Targets) > registry.MaxTargets || len(i.Unmapped) > MaxUnmapped {
			t.Errorf("%d targets, %d lost", len(i.Entry.Targets), len(i.Unmapped))
		}
		for _, target := range i.Entry.Targets {
			if target.URI == "" || target.Priority < 0 || target.Priority >= registry.MaxTargets ||
				registry.CheckText("note", target.Note, registry.MaxText) != nil {
				t.Errorf("%+v", target)
			}
		}
	})
}
