package problem

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestPagesNameNoSettings requires that error pages name settings only in their details, because settings are
// for administrators. Pages for administrators are exempt.
func TestPagesNameNoSettings(t *testing.T) {
	ofAdministrators := []error{
		ErrAdminHost, ErrLoginWithoutTLS, ErrTokenRequired, ErrNoRegistry, registry.ErrJobsDisabled, ErrAdminClient,
		ErrAdminCertificate, ErrAdminRelayed, ErrAdminToken,
	}
	details := regexp.MustCompile(`(?s)<details>.*?</details>`)
	design, lines := pages.New(pages.Site{}), httpmessage.NewHeader(http.Header{"Accept": {"text/html"}})
	for _, row := range statuses {
		if slices.ContainsFunc(ofAdministrators, func(of error) bool { return errors.Is(row.err, of) }) {
			continue
		}
		for _, err := range []error{
			row.err, &Failure{Err: row.err, Input: "http://a.example/", Fetched: true},
			&scheme.StatusError{Status: row.status, Reply: row.err.Error(), Local: true},
		} {
			for name, reply := range map[string]string{
				"own":       string(Reply(design, lines, err).Body),
				"forwarded": string(ProxyReply(design, lines, "urnd", err).Body),
			} {
				shown := details.ReplaceAllString(reply, "")
				for _, s := range config.Settings() {
					if !s.IsSection() && strings.Contains(shown, s.Path) {
						t.Errorf("%s: %v names %s:\n%s", name, err, s.Path, shown)
					}
				}
			}
		}
	}
}
