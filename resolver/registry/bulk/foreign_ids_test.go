package bulk_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// hostileIDs are identifiers with bytes that a URI does not allow, or reserves for another purpose.
var hostileIDs = []string{
	"a#b", "a?b", "50%off", "a%20b", "a%2520b", "<3>", "a b", "Käse", "\"q\"", "[x]", `a\b`, "{x}", "a|b^c`d", "a\tb",
	"\x01",
	"(SICI)1097-4571(1998)49:1<1::AID-ASI1>3.0.CO;2-#", "a!$&'()*+,;=:@b", "a//b", "a/./b", "a/../b", "日本",
	"\U0001F600", "%", "%%", "a%zz",
}

// rawName returns the raw identifier of a name.
func rawName(t *testing.T, name, base string) string {
	t.Helper()
	raw, err := url.PathUnescape(strings.TrimPrefix(name, base))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return raw
}

// Each raw identifier becomes a distinct name that decodes to the identifier's bytes, also after an export
// and another import.
func TestForeignHostileIdentifiers(t *testing.T) {
	inJSON := func(template string) func(string) string {
		return func(id string) string {
			text, err := json.Marshal(id)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf(template, text) + "\n"
		}
	}
	for _, c := range []struct {
		format bulk.Format
		base   string // of the import, and of the names
		names  string
		record func(id string) string
	}{
		{
			bulk.Handle, "", "hdl:",
			inJSON(`{"handle":%s,"values":[{"type":"URL","data":{"format":"string","value":"https://a.example/"}}]}`),
		},
		{
			bulk.Handle, "urn:example:", "urn:example:",
			inJSON(`{"handle":%s,"values":[{"type":"URL","data":{"format":"string","value":"https://a.example/"}}]}`),
		},
		{
			bulk.Handle, "", "hdl:",
			func(id string) string { return "CREATE " + id + "\n1 URL 86400 1110 UTF8 https://a.example/\n\n" },
		},
		{bulk.DataCite, "urn:example:", "urn:example:", inJSON(`{"doi":%s,"url":"https://a.example/"}`)},
		{bulk.NOID, "", "hdl:", func(id string) string { return ":: hdl:" + id + "\n_target: https://a.example/\n\n" }},
		{bulk.Shlink, "urn:example:", "urn:example:", inJSON(`{"shortCode":%s,"longUrl":"https://a.example/"}`)},
		{bulk.YOURLS, "urn:example:", "urn:example:", inJSON(`{"keyword":%s,"url":"https://a.example/"}`)},
	} {
		t.Run(string(c.format)+" "+c.base, func(t *testing.T) {
			var text strings.Builder
			want := make(map[string]bool)
			for _, id := range hostileIDs {
				id = "1.2/" + id
				want[id] = true
				text.WriteString(c.record(id))
			}
			r := open(t)
			if _, rejections := imported(t, bulk.Import{Registry: r, Format: c.format, Base: c.base},
				text.String()); len(rejections) > 0 {
				t.Fatalf("rejected: %v", rejections)
			}
			entries, err := r.List(t.Context(), registry.KindName, "", "", 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				id := rawName(t, e.Name, c.names)
				if !want[id] {
					t.Errorf("%s is not an identifier of the input", e.Name)
				}
				delete(want, id)
			}
			if len(want) > 0 {
				t.Errorf("no names of %v", want)
			}
			for _, format := range []bulk.Format{bulk.NDJSON, bulk.CSV, bulk.TSV} {
				again := open(t)
				first := exported(t, r, bulk.ExportOptions{Format: format})
				if _, rejections := imported(t, bulk.Import{Registry: again, Format: format},
					first); len(rejections) > 0 {
					t.Errorf("%s: rejected: %v", format, rejections)
				}
				if got := exported(t, again, bulk.ExportOptions{Format: format}); got != first {
					t.Errorf("%s: exported was\n%s\nand after an import\n%s", format, first, got)
				}
			}
		})
	}
}

// Two identifiers never become one name: the second one is rejected, and changes nothing.
func TestForeignEquivalentIdentifiers(t *testing.T) {
	for _, c := range []struct {
		name   string
		format bulk.Format
		base   string
		text   string
		want   string // the names and their targets
		reason string // why one is rejected
	}{
		{
			"the case of DOIs", bulk.DataCite, "",
			`{"doi":"10.1/A","url":"https://a.example/1"}{"doi":"10.1/a","url":"https://a.example/2"}`,
			"doi:10.1/a https://a.example/1", `same name as "10.1/A" of line 1`,
		},
		{
			"of the same target", bulk.DataCite, "",
			`{"doi":"10.1/A","url":"https://a.example/1"}{"doi":"10.1/a","url":"https://a.example/1"}`,
			"doi:10.1/a https://a.example/1", `same name as "10.1/A" of line 1`,
		},
		{
			"the hyphens of ARKs", bulk.NOID, "",
			":: ark:/12345/x-1\n_target: https://a.example/1\n\n:: ark:/12345/x1\n_target: https://a.example/2\n",
			"ark:/12345/x1 https://a.example/1", `same name as`,
		},
		{
			"the percent sign of ARKs", bulk.NOID, "",
			":: ark:/12345/5%o\n_target: https://a.example/1\n\n:: ark:/12345/5%25o\n_target: https://a.example/2\n",
			"ark:/12345/5%25o https://a.example/1", `same name as`,
		},
		{
			"two hosts below one base", bulk.Shlink, "https://go.example/",
			`{"shortCode":"x","shortUrl":"https://a.example/x","longUrl":"https://a.example/1"}{"shortCode":"x","shortUrl":"https://b.example/x","longUrl":"https://a.example/2"}`,
			"https://go.example/x https://a.example/1", `same name as`,
		},
		{
			"one identifier twice", bulk.Handle, "",
			"CREATE 1.2/x\n1 URL 86400 1110 UTF8 https://a.example/1\n\nCREATE 1.2/x\n1 URL 86400 1110 UTF8 " +
				"https://a.example/2\n",
			"hdl:1.2/x https://a.example/1", `targets differ from line 1`,
		},
		{
			"commands of one identifier apart", bulk.NOID, "",
			"bind set 1/x goto https://a.example/1\nbind set 1/y goto https://a.example/2\nbind set 1/x goto " +
				"https://a.example/3\n",
			"ark:/1/x https://a.example/1; ark:/1/y https://a.example/2", "targets differ from line 1",
		},
		{
			"an authority", bulk.Handle, "", "CREATE //A/b\n1 URL 86400 1110 UTF8 https://a.example/1\n", "",
			"introduce a host",
		},
		{
			"tags that are not UTF-8", bulk.Shlink, "",
			"shortUrl,longUrl,tags\nhttps://a.example/x,https://a.example/1,\"a|\xff\"\n", "", "not UTF-8",
		},
		{
			"a PURL is a part of a URL", bulk.PURL, "https://p.example",
			`<purls><purl id="/a(b)!%20c|50%" type="302"><target url="https://a.example/1"/></purl></purls>`,
			"https://p.example/a(b)!%20c%7C50%25 https://a.example/1 302", "",
		},
		{
			"a PURL has slashes", bulk.PURL, "https://p.example/",
			`<purls><purl id="//a" type="302"><target url="https://a.example/1"/></purl><purl id="/a" type="302"><target url="https://a.example/2"/></purl></purls>`,
			"https://p.example//a https://a.example/1 302; https://p.example/a https://a.example/2 302", "",
		},
		{
			"dot segments of a path", bulk.Handle, "https://a.example/",
			"CREATE 1.2/a/../b\n1 URL 86400 1110 UTF8 https://a.example/1\n", "", `a segment "." or ".."`,
		},
		{
			"a fragment of a URN", bulk.DNB, "", `{"urn":"urn:nbn:de:x-1#p","urls":[{"url":"https://a.example/"}]}`, "",
			"query or fragment",
		},
		{
			"a query of a URN", bulk.DNB, "", `{"urn":"urn:nbn:de:x-1?+p","urls":[{"url":"https://a.example/"}]}`, "",
			"query or fragment",
		},
		{
			"a fragment of a URL", bulk.Shlink, "",
			`{"shortUrl":"https://a.example/x#y","longUrl":"https://a.example/1"}`, "", "query or fragment",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t)
			_, rejections := imported(t, bulk.Import{Registry: r, Format: c.format, Base: c.base}, c.text)
			if got := summary(t, r); got != c.want {
				t.Errorf("there is %s, want %s", got, c.want)
			}
			switch {
			case c.reason == "" && len(rejections) > 0, c.reason != "" && len(rejections) != 1:
				t.Errorf("rejected: %v", rejections)
			case c.reason != "" && !strings.Contains(rejections[0].Reason.Error(), c.reason):
				t.Errorf("the reason is %v, want %s", rejections[0].Reason, c.reason)
			}
		})
	}
}

// Values that NOID appends and prepends become one value. Percent-encodings are decoded in the formats of
// EZID only.
func TestForeignANVL(t *testing.T) {
	for _, c := range []struct{ name, text, want, reason string }{
		{
			"append",
			"bind set 1/x goto https://a.example/\nbind append 1/x goto b\nbind insert 1/x t B\nbind prepend 1/x t A\n",
			`ark:/1/x https://a.example/b {"t":"AB"}`, "",
		},
		{
			"replace", "bind set 1/x goto https://a.example/1\nbind replace 1/x goto https://a.example/2\n",
			"ark:/1/x https://a.example/2", "",
		},
		{
			"new twice", "bind new 1/x goto https://a.example/1\nbind new 1/x goto https://a.example/2\n", "",
			`line 2: bind new of "goto"`,
		},
		{
			"a value of NOID is not encoded", "id: 1/x\ngoto: https://a.example/a%20b\nt: 5%\n",
			`ark:/1/x https://a.example/a%20b {"t":"5%"}`, "",
		},
		{
			"a target of EZID is", ":: ark:/1/x\n_target: https://a.example/My%2520File.pdf\n",
			"ark:/1/x https://a.example/My%20File.pdf", "",
		},
		{
			"a label of EZID is", ":: ark:/1/x\n_target: https://a.example/\na%3Ab%25: c%0D%0Ad\n",
			`ark:/1/x https://a.example/ {"a:b%":"c\r\nd"}`, "",
		},
		{
			"an API response", "success: doi:10.5/A | ark:/b5/a\n_target: https://a.example/\n",
			"doi:10.5/a https://a.example/", "",
		},
		{"an encoding cut off", ":: ark:/1/x\n_target: https://a.example/%2\n", "", "line 2: a percent sign"},
		{"no encoding", ":: ark:/1/x\n_target: https://a.example/\nt: 100 % sure\n", "", "line 3: a percent sign"},
		{"a bad label", ":: ark:/1/x\n_target: https://a.example/\nt%: x\n", "", "line 3: a percent sign"},
		{"a bad continuation", ":: ark:/1/x\n_target: https://a.example/\nt: a\n %x\n", "", "line 4: a percent sign"},
		{"a continuation of nothing", ":: ark:/1/x\n more\n", "", "line 2: continuation line"},
		{"no label", ":: ark:/1/x\n_target: https://a.example/\n: a\n", "", "line 3: not an element"},
		{"no colon", ":: ark:/1/x\n_target: https://a.example/\nabc\n", "", "line 3: not an element"},
		{"no UTF-8", ":: ark:/1/x\n_target: https://a.example/\nt: %FF\n", "", "not UTF-8"},
		{"no identifier", "id:\ngoto: https://a.example/\n", "", "no name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t)
			_, rejections := imported(t, bulk.Import{Registry: r, Format: bulk.NOID}, c.text)
			if got := summary(t, r); got != c.want {
				t.Errorf("there is %s, want %s", got, c.want)
			}
			if (c.reason == "") != (len(rejections) == 0) ||
				c.reason != "" && !strings.Contains(rejections[0].Reason.Error(), c.reason) {
				t.Errorf("rejected: %v, want %q", rejections, c.reason)
			}
		})
	}
}

// The report of a dry run names each unmapped field, even if an entry has more than are listed.
func TestForeignUnmapped(t *testing.T) {
	var text strings.Builder
	for n := range 3 {
		fmt.Fprintf(&text, ":: ark:/1/x%d\n_target: https://a.example/%d\n_owner: me\n", n, n)
		for range 60 * n {
			text.WriteString("_note: x\n")
		}
		text.WriteString("\n")
	}
	i := bulk.Import{Registry: open(t), Format: bulk.NOID, DryRun: true}
	report, rejections := imported(t, i, text.String())
	want := []bulk.UnmappedField{{Field: "_note", Count: 180}, {Field: "_owner", Count: 3}}
	if fmt.Sprint(report.Unmapped) != fmt.Sprint(want) {
		t.Errorf("there are %v, want %v", report.Unmapped, want)
	}
	if last := rejections[len(rejections)-1].Reason.Error(); !strings.HasSuffix(last, "; and 71 more") {
		t.Errorf("the last one is %s", last)
	}
}

// Unknown members are listed, and values that decoding would alter are rejected.
func TestForeignJSON(t *testing.T) {
	for _, c := range []struct {
		format           bulk.Format
		text             string
		unmapped, reason string
	}{
		{
			bulk.Shlink,
			`{"shortUrl":"https://a.example/x","longUrl":"https://a.example/","crawlable":true,"new":1,"deviceLongUrls":{"ios":"https://a.example/i","android":null}}`, "crawlable deviceLongUrls new", "",
		},
		{
			bulk.DNB,
			`{"urn":"urn:nbn:de:x-1","created":"2024","self":"https://a.example/","urls":[{"url":"https://a.example/","created":"2024","urn":"urn:nbn:de:x-1"}]}`, "created urls.created", "",
		},
		{
			bulk.DNB, `{"urn":"urn:nbn:de:x-1","urls":[],"successor":"https://a.example/urns/urn/urn:nbn%3Ade:x-2"}`, "",
			"",
		},
		{
			bulk.Shlink,
			`{"shortUrl":"https://a.example/x","longUrl":"https://a.example/","longUrl":"https://a.example/2"}`, "",
			"duplicate",
		},
		{
			bulk.Shlink, `{"shortUrl":"https://a.example/x","longUrl":"https://a.example/","title":"\udc00"}`, "",
			"surrogate",
		},
		{
			bulk.Shlink,
			`{"shortUrl":"https://a.example/x","longUrl":"https://a.example/","title":"\ud83d\ude00 \\ud83d"}`, "", "",
		},
		{
			bulk.Shlink, "{\"shortUrl\":\"https://a.example/x\",\"longUrl\":\"https://a.example/\",\"title\":\"\xff\"}",
			"", "not UTF-8",
		},
		{bulk.YOURLS, `{"result":[{"keyword":"a","url":"https://a.example/"}],"total":"1"}`, "", "--base"},
		{
			bulk.YOURLS,
			`{"keyword":"a","shorturl":"https://a.example/a","longurl":"https://a.example/","message":"success","statusCode":200}`, "", "",
		},
	} {
		i := bulk.Import{Registry: open(t), Format: c.format}
		report, rejections := imported(t, i, c.text)
		var fields []string
		for _, f := range report.Unmapped {
			fields = append(fields, f.Field)
		}
		if got := strings.Join(fields, " "); got != c.unmapped {
			t.Errorf("%s: unmapped are %s, want %s", c.text, got, c.unmapped)
		}
		if c.reason == "" && report.Rejected > 0 ||
			c.reason != "" && (report.Rejected != 1 || !strings.Contains(rejections[0].Reason.Error(), c.reason)) {
			t.Errorf("%s: rejected: %v, want %q", c.text, rejections, c.reason)
		}
	}
}

// An epicur record that deletes URLs does not register their URN.
func TestForeignEpicurUpdates(t *testing.T) {
	const record = `<epicur><administrative_data><delivery><update_status type=%q/></delivery></administrative_data><record>` +
		`<identifier scheme="urn:nbn:de">urn:nbn:de:x-1</identifier><resource><identifier scheme="url" origin="original">https://a.example/</identifier></resource></record></epicur>`
	for status, want := range map[string]string{
		"urn_new":    "[{resource.identifier@origin 1}] 0",
		"url_insert": "[{resource.identifier@origin 1} {update_status 1}] 0", "url_delete": "[] 1",
	} {
		report, _ := imported(t, bulk.Import{Registry: open(t), Format: bulk.DNB}, fmt.Sprintf(record, status))
		if got := fmt.Sprint(report.Unmapped, report.Rejected); got != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
}
