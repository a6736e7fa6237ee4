package bulk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// TestForeign imports samples of the formats of other programs, and compares the entries and the listed
// losses.
func TestForeign(t *testing.T) {
	for _, c := range []struct {
		file   string
		format bulk.Format
		base   string
	}{
		{"handle.txt", bulk.Handle, ""},
		{"handle.json", bulk.Handle, ""},
		{"purl.xml", bulk.PURL, "https://purl.example.org"},
		{"w3id.htaccess", bulk.W3ID, "https://w3id.org/example/"},
		{"shlink.csv", bulk.Shlink, ""},
		{"shlink.json", bulk.Shlink, "https://go.example.org/"},
		{"dnb.json", bulk.DNB, ""},
		{"dnb.xml", bulk.DNB, ""},
		{"rewritemap.txt", bulk.RewriteMap, "https://www.example.org/p/"},
		{"nginx.conf", bulk.Nginx, "https://www.example.org"},
		{"noid.txt", bulk.NOID, ""},
		{"datacite.json", bulk.DataCite, ""},
		{"bioregistry.json", bulk.Bioregistry, ""},
		{"ezid.txt", bulk.NOID, ""},
		{"yourls.csv", bulk.YOURLS, "https://sho.example.org/"},
		{"yourls-plugin.csv", bulk.YOURLS, "https://sho.example.org"},
		{"yourls.json", bulk.YOURLS, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join("testdata", "foreign", c.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := open(t)
			report, rejections := imported(t, bulk.Import{Registry: r, Format: c.format, Base: c.base}, string(text))
			got := strings.ReplaceAll(summary(t, r), "; ", "\n") + "\n"
			lost := int64(0)
			for _, rejection := range rejections {
				got += fmt.Sprintf("%d: %v\n", rejection.Line, rejection.Reason)
				if rejection.Unmapped {
					lost++
				}
			}
			if report.UnmappedCount != lost || report.Rejected != int64(len(rejections))-lost {
				t.Errorf("the report has %d rejected and %d lost of %d", report.Rejected, report.UnmappedCount,
					len(rejections))
			}
			want, err := os.ReadFile(path + ".want")
			if err != nil {
				t.Fatalf("%v; got\n%s", err, got)
			}
			if got != string(want) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// Metadata has the texts of the foreign format without escapes that JSON does not need.
func TestForeignMetadata(t *testing.T) {
	r := open(t)
	imported(t, bulk.Import{Registry: r, Format: bulk.DataCite}, `{"data":[{"id":"10.5555/a","attributes":{`+
		`"doi":"10.5555/a","url":"https://a.example/","titles":[{"title":"Bed & <i>Breakfast</i>"}]}}]}`)
	const want = `{"title":"Bed & <i>Breakfast</i>"}`
	e, err := r.Get(t.Context(), registry.Name("doi:10.5555/a"))
	if err != nil || e.Metadata != want {
		t.Errorf("the metadata is %s, %v; want %s", e.Metadata, err, want)
	}
}

// A map that an export wrote for nginx imports as the same entries, except for fields that a map cannot
// express.
func TestForeignOwnMap(t *testing.T) {
	r := open(t)
	imported(t, bulk.Import{Registry: r},
		"name,prefix,target\nurn:nbn:fi:a:,yes,https://example.org/{suffix}.html\nurn:nbn:fi:b,,https://example.org/$2\nurn:nbn:fi:c,,https://example.org/3\n")
	want := strings.ReplaceAll(summary(t, r), "{suffix}", "{+suffix}")
	text := exported(t, r, bulk.ExportOptions{Format: bulk.NginxMap})
	again := open(t)
	if _, rejections := imported(t, bulk.Import{Registry: again, Format: bulk.Nginx}, text); len(rejections) > 0 {
		t.Errorf("of %s were rejected %v", text, rejections)
	}
	if got := summary(t, again); got != want {
		t.Errorf("%s was imported as %s, want %s", text, got, want)
	}
}

// Unreadable foreign input is an error, and so is an entry that is too long.
func TestForeignUnreadable(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for _, c := range []struct {
		format     bulk.Format
		base, text string
		want       string // the error, or the reason why a line is rejected
	}{
		{bulk.PURL, "", "<purls/>", "--base"},
		{bulk.W3ID, "", "", "--base"},
		{bulk.W3ID, "w3id.org/x", "", "--base"},
		{bulk.PURL, "https://purl.example.org", "<purls><purl id='/a'>", "unexpected EOF"},
		{bulk.PURL, "https://purl.example.org", "<purls><purl id='/" + long + "'/></purls>", "1048576 bytes"},
		{bulk.DataCite, "", "{\"data\":[{\"id\":\"" + long + "\"}]}", "1048576 bytes"},
		{bulk.DataCite, "", "[{}", "unexpected EOF"},
		{bulk.DataCite, "", "3", "neither an object nor a list"},
		{bulk.DNB, "", "[{\"urn\":3}]", "not a URN of the URN service"},
		{bulk.DNB, "", strings.Repeat("{\"items\":", 20), "too deep"},
		{bulk.Shlink, "", "a,b\n", "longUrl"},
		{bulk.Handle, "", "CREATE 1/" + long + "\n", "1048576 bytes"},
		{bulk.Handle, "", "{\"handle\":\"1/2\",\"responseCode\":100}", "code 100"},
		{bulk.Handle, "", "CREATE 1/2\n\n", "no target"},
		{bulk.RewriteMap, "", long + "\n", "1048576 bytes"},
		{bulk.Nginx, "", "map $a $b {\n\"" + long + "\" a; }", "1048576 bytes"},
		{bulk.Nginx, "", "map a", "unterminated directive"},
		{bulk.Nginx, "", strings.Repeat("a {", 100), "too deep"},
		{bulk.NOID, "", "id: a\n" + strings.Repeat("a: b\n", 2000), "more than 1000 elements"},
	} {
		var rejections []string
		i := bulk.Import{
			Registry: open(t), Actor: admin, Format: c.format, Base: c.base,
			Rejected: func(r bulk.Rejection) {
				rejections = append(rejections, r.Reason.Error())
			},
		}
		_, err := i.Run(t.Context(), strings.NewReader(c.text))
		if got := fmt.Sprint(err, rejections); !strings.Contains(got, c.want) {
			t.Errorf("%s: %.80q: %.300s, want %s", c.format, c.text, got, c.want)
		}
	}
}
