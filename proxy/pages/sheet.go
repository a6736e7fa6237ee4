package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
)

// sheet is the one style sheet of a page, and the policy that allows it alone.
type sheet struct {
	element template.HTML
	policy  string
}

// newSheet returns the style sheet of files, with the colours of a site.
func newSheet(site Site, names ...string) sheet {
	var all strings.Builder
	for _, name := range names {
		css, _ := files.ReadFile(name) // it is embedded
		all.Write(css)
	}
	light, dark := accents(site.Accent)
	css := strings.NewReplacer("ACCENT-LIGHT", light, "ACCENT-DARK", dark, " { ", "{", " }\n", "}", "{\n", "{", "}\n", "}", "; ", ";", ": ", ":").Replace(all.String())
	sum := sha256.Sum256([]byte(css))
	made := sheet{
		element: template.HTML("<style>" + css + "</style>"), //nolint:gosec // constant but for two colours that were parsed
		policy: noSources + "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}
	if site.Logo != nil {
		made = made.withImages()
	}
	return made
}

// withImages returns the sheet of pages that have pictures of this server.
func (s sheet) withImages() sheet {
	if !strings.Contains(s.policy, "img-src") {
		s.policy = strings.Replace(s.policy, "form-action", "img-src 'self'; form-action", 1)
	}
	return s
}

// noSources begins the policy of a page.
const noSources = "default-src 'none'; "

// withScripts returns the sheet of a page with scripts of its server.
func (s sheet) withScripts() sheet { return s.with("script-src 'self'; ") }

// withEvents returns the sheet of a page whose scripts are connected to its server.
func (s sheet) withEvents() sheet { return s.with("connect-src 'self'; ") }

// with returns the sheet of a page that may do more than others.
func (s sheet) with(directive string) sheet {
	s.policy = noSources + directive + strings.TrimPrefix(s.policy, noSources)
	return s
}
