package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/urnns"
)

// pagesOf returns the design of the pages of a configuration.
func pagesOf(c config.Config) (*pages.Design, error) {
	s := c.Site
	site := pages.Site{
		Name: s.Name, Accent: s.Accent, Contact: s.Contact, Imprint: s.Imprint, Privacy: s.Privacy, Examples: s.Examples, Base: pathOf(c.Listen.PublicURL),
		Known: len(urnns.Builtin()), All: spaces(c), Browses: c.Registry.Store != "" && browsesAll(c.Access),
	}
	for i := range site.All {
		if site.All[i].HasRule {
			site.Namespaces = append(site.Namespaces, site.All[i].NID)
		}
	}
	site.Language, _ = pages.LanguageOf(s.Language) // Validate has checked it
	for _, text := range s.Texts {
		if l, ok := pages.LanguageOf(text.Language); ok {
			site.Texts[l] = pages.SiteText{Name: text.Name, Welcome: text.Welcome}
		}
	}
	if s.Logo != "" {
		logo, err := readLogo(s.Logo)
		if err != nil {
			return nil, fmt.Errorf("site.logo: %w", err)
		}
		site.Logo = logo
	}
	return pages.New(site), nil
}

// pathOf returns the path of the URL by which clients reach urnd, without a slash at its end, where a proxy in front removes it; "" for none.
func pathOf(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	path := strings.Trim(u.EscapedPath(), "/")
	if path == "" {
		return ""
	}
	return "/" + path
}

// readLogo reads the logo in a file, and no more of it than a logo may have.
func readLogo(path string) (*pages.Logo, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // it could be one that never ends
		return nil, fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path) //nolint:gosec // the administrator names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	octets, err := io.ReadAll(io.LimitReader(file, pages.MaxLogo+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	logo, err := pages.ParseLogo(octets)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return logo, nil
}
