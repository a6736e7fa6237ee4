package bulk_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// migratedNames are the names of a site that migrates away from urnd.
const migratedNames = `name,prefix,status,reason,alias,target,priority,until
urn:nbn:fi:a-1,,,,,https://example.org/second,2,
urn:nbn:fi:a-1,,,,,https://example.org/first?q=$x&y="",1,
urn:nbn:fi:gone,,withdrawn,merged,,https://example.org/gone,,
urn:nbn:fi:other,,,,urn:nbn:fi:a-2.x,,,
urn:nbn:fi:lost,,,,urn:nbn:fi:gone,,,
urn:nbn:fi:a-2.x,,,,,https://example.org/!bang,,
urn:nbn:fi:Case,,,,,https://example.org/upper,,
urn:nbn:fi:case,,,,,https://example.org/lower,,
urn:nbn:fi:reserved,,reserved,,,,,
urn:nbn:fi:soon,,,,,https://example.org/soon,,2099-01-01
urn:nbn:fi:p:,true,,,,https://example.org/p/,,
urn:nbn:fi:p:q:,true,,,,https://example.org/q/{suffix}.html,,
urn:nbn:fi:w:,true,withdrawn,why,,https://example.org/w/,,
urn:nbn:fi:former,,withdrawn,why,urn:nbn:fi:a-2.x,,,
urn:nbn:fi:by-former,,,,urn:nbn:fi:former,,,
urn:nbn:fi:p:reserved,,reserved,,,,,
urn:nbn:fi:p:r:,true,reserved,,,,,
urn:nbn:fi:p:gone,,withdrawn,why,,https://example.org/gone,,
`

func leave(t *testing.T, o bulk.ExportOptions) (text string, skipped []string) {
	t.Helper()
	r := open(t)
	csv := strings.ReplaceAll(migratedNames, `""`, "z")
	if _, rejected := imported(t, bulk.Import{Registry: r, Format: bulk.CSV}, csv); len(rejected) > 0 {
		t.Fatalf("rejected: %v", rejected)
	}
	o.Skipped = func(name string, reason error) { skipped = append(skipped, name+": "+reason.Error()) }
	return exported(t, r, o), skipped
}

// Names below a prefix that only sets properties have the location of the next shorter one, and patterns are
// reported: they are not in the formats of other programs.
func TestExportedPrefixesWithoutTarget(t *testing.T) {
	for _, o := range []bulk.ExportOptions{
		{Format: bulk.NginxMap}, {Format: bulk.NAPTRZone, Prefix: "urn:nbn:fi:", Zone: "fi.urn.test."},
	} {
		r := open(t)
		imported(t, bulk.Import{Registry: r}, "name,prefix,target,sandbox,authoritative,pattern\n"+
			"urn:nbn:fi:p:,true,https://example.org/,,,[0-9]+\nurn:nbn:fi:p:only:,true,,true,,\n"+
			"urn:nbn:fi:p:closed:,true,,,true,\n")
		var skipped []string
		o.Skipped = func(name string, reason error) { skipped = append(skipped, name+": "+reason.Error()) }
		text := exported(t, r, o)
		if strings.Contains(text, "only") || !strings.Contains(text, "closed") {
			t.Errorf("%s: the names of urn:nbn:fi:p:only: do not fall to the shorter prefix:\n%s", o.Format, text)
		}
		if len(skipped) != 1 || !strings.HasPrefix(skipped[0], "urn:nbn:fi:p:*: ") ||
			!strings.Contains(skipped[0], "pattern [0-9]+") {
			t.Errorf("%s: skipped were %q", o.Format, skipped)
		}
	}
}

// nginx redirects like urnd with the exported map.
func TestNginxMap(t *testing.T) {
	text, skipped := leave(t, bulk.ExportOptions{Format: bulk.NginxMap})
	if len(skipped) != 3 || !strings.HasPrefix(skipped[1], "urn:nbn:fi:reserved") ||
		!strings.HasPrefix(skipped[2], "urn:nbn:fi:soon") {
		t.Errorf("skipped were %q", skipped)
	}
	text = strings.TrimSuffix(text, "}\n") // the configuration of the test server closes it
	server := testserver.StartNginx(t, testserver.OpenFolder(t), "if ($urnd_location = 410) { return 410; }",
		"if ($urnd_location) { return 302 $urnd_location; }", "}", text)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, want := range map[string]string{
		"urn:nbn:fi:a-1":   "302 https://example.org/first?q=$x&y=z",
		"urn:nbn:fi:gone":  "410 ",
		"urn:nbn:fi:lost":  "410 ",
		"urn:nbn:fi:other": "302 https://example.org/!bang",
		"urn:nbn:fi:Case":  "302 https://example.org/upper",
		"urn:nbn:fi:case":  "302 https://example.org/lower",
		"urn:nbn:fi:p:x":   "302 https://example.org/p/x",
		"urn:nbn:fi:p:q:x": "302 https://example.org/q/x.html",
		"urn:nbn:fi:w:x":   "410 ",

		"urn:nbn:fi:former":     "410 ",
		"urn:nbn:fi:by-former":  "410 ",
		"urn:nbn:fi:p:reserved": "404 ",
		"urn:nbn:fi:p:r:x":      "404 ",
		"urn:nbn:fi:p:gone":     "410 ",
		"urn:nbn:fi:a-1x":       "404 ",
		"urn:nbn:fi:unknown":    "404 ",
	} {
		answer, err := client.Get("http://" + server.Addr() + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if got := answer.Status[:4] + answer.Header.Get("Location"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The DNS resolves like urnd with the exported zone, by our resolver and BIND.
func TestNAPTRZone(t *testing.T) {
	text, skipped := leave(t, bulk.ExportOptions{Format: bulk.NAPTRZone, Prefix: "urn:nbn:fi:", Zone: "fi.urn.test."})
	if len(skipped) != 8 {
		t.Errorf("skipped were %q", skipped)
	}
	head := "$TTL 60\n@ IN SOA ns hostmaster 1 60 60 60 60\n@ IN NS ns\nns IN A 127.0.0.1\n"
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, []byte(head+text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testserver.Need(t, "named-checkzone"), "fi.urn.test.",
		file).CombinedOutput(); err != nil {
		t.Fatalf("named-checkzone: %v\n%s\n%s", err, out, text)
	}
	roots := testserver.Zone{Name: "roots.test", Text: head + "nbn IN NAPTR 10 10 \"\" \"\" \"\" fi.urn.test.\n"}
	bind := testserver.StartBIND(t, testserver.Zone{Name: "fi.urn.test", Text: head + text}, roots)
	client := ddds.NewClient(ddds.ClientConfig{
		Servers: []ddds.Server{{Address: bind.Addr()}}, Dial: (&net.Dialer{}).DialContext, Timeout: 10 * time.Second,
		Rounds: 1, Now: time.Now,
	})
	defer client.Close()
	r := ddds.New(ddds.Config{Lookup: client, Roots: []string{"roots.test."}, MaxDomains: 5})
	for name, want := range map[string]string{
		"urn:nbn:fi:a-1":    "https://example.org/first?q=$x&y=z https://example.org/second",
		"urn:nbn:fi:other":  "https://example.org/!bang",
		"urn:nbn:fi:Case":   "https://example.org/upper",
		"urn:nbn:fi:case":   "https://example.org/lower",
		"urn:nbn:fi:p:x":    "https://example.org/p/x",
		"urn:nbn:fi:p:q:x":  "https://example.org/q/x.html",
		"urn:nbn:fi:gone":   "",
		"urn:nbn:fi:former": "",
		"urn:nbn:fi:lost":   "",
		"urn:nbn:fi:p:gone": "",
		"urn:nbn:fi:p:r:x":  "",
		"urn:nbn:fi:nobody": "",
	} {
		q, err := resolver.ParseQuery(name, resolver.I2Ls)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := r.Resolve(t.Context(), q)
		var got []string
		for _, l := range answer.Locations {
			got = append(got, l.URI)
		}
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}
