package promise

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gatherAccessLogs returns the members of the lines in the JSON access log for all requests to the daemon, and
// a line in each other format. It stops the daemon, which then writes all pending lines.
func gatherAccessLogs(t *testing.T, p *program) (lines []string) {
	p.daemon.stop()
	for line := range strings.Lines(read(t, p.daemon.directory, "access.log")) {
		var entry object
		decode(t, line, &entry)
		for _, member := range members("", entry) {
			lines = append(lines, "json "+member)
		}
	}
	changes := []struct{ format, pattern, with string }{
		{"combined", `\[[^\]]*\]`, "[TIME]"},
		{"combined", `" (\d+) \d+ "`, `" $1 BYTES "`},
		{"squid", `^[0-9]+\.[0-9]{3} +[0-9]+ `, "TIME MILLISECONDS "},
		{"squid", `(/\d+) \d+ `, "$1 BYTES "},
	}
	for _, format := range []string{"combined", "squid"} {
		directory := t.TempDir()
		d := p.start(t, directory, "listen: {service: ['127.0.0.1:0'], admin: ''}\nddds: {enabled: false}\n"+
			"log: {format: json, access: [{format: "+format+", file: "+directory+"/access.log}]}\n")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.service+"/urn:ietf:rfc:2648", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", "agent/1")
		request.Header.Set("Referer", "https://example.org/")
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		d.stop()
		text := strings.TrimSpace(read(t, directory, "access.log"))
		for _, c := range changes {
			if c.format == format {
				text = regexp.MustCompile(c.pattern).ReplaceAllString(text, c.with)
			}
		}
		lines = append(lines, format+" "+text)
	}
	return lines
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
