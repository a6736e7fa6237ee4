package pages

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"io"
	"strconv"
	"strings"
)

// Logo is the logo of a site, which is served at its own path. It is immutable.
type Logo struct {
	Type          string // media type
	Bytes         []byte
	width, height int
}

// Limits of a logo: of its file in bytes, and of its width and height in pixels, or user units of an SVG.
const (
	MaxLogo     = 64 << 10
	maxLogoSide = 4096
)

// Paths of logos.
const (
	PathLogoSVG = "/logo.svg"
	PathLogoPNG = "/logo.png"
)

const (
	typeSVG = "image/svg+xml"
	typePNG = "image/png"
)

// LogoPolicy is the Content-Security-Policy of a logo: an SVG that is opened by itself is a document, which
// must not run scripts.
const LogoPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// ParseLogo parses a logo, an SVG or a PNG, with its dimensions.
func ParseLogo(data []byte) (*Logo, error) {
	if len(data) > MaxLogo {
		return nil, fmt.Errorf("it has more than %d bytes", MaxLogo)
	}
	l := &Logo{Type: typePNG, Bytes: data}
	if config, err := png.DecodeConfig(bytes.NewReader(data)); err == nil {
		l.width, l.height = config.Width, config.Height
	} else if l.width, l.height, err = sizeOfSVG(data); err != nil {
		return nil, err
	} else {
		l.Type = typeSVG
	}
	if l.width < 1 || l.height < 1 || l.width > maxLogoSide || l.height > maxLogoSide {
		return nil, fmt.Errorf("its width and height must be from 1 to %d, not %d by %d", maxLogoSide,
			l.width, l.height)
	}
	return l, nil
}

// sizeOfSVG returns the width and height of an SVG: those of its viewBox, or its attributes. It parses the
// whole document, since browsers do not show invalid XML.
func sizeOfSVG(data []byte) (width, height int, err error) {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	first := true
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && !first:
			return width, height, nil
		case err != nil:
			return 0, 0, fmt.Errorf("it is neither a PNG nor an SVG: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || !first {
			continue
		}
		if first = false; start.Name.Local != "svg" {
			return 0, 0, fmt.Errorf("it is neither a PNG nor an SVG: its element is %q", start.Name.Local)
		}
		if width, height, ok = sidesOf(start); !ok {
			return 0, 0, errors.New("its svg element has no viewBox, and no width and height in pixels")
		}
	}
}

func sidesOf(svg xml.StartElement) (width, height int, ok bool) {
	var box, w, h string
	for _, a := range svg.Attr {
		switch a.Name.Local {
		case "viewBox":
			box = a.Value
		case "width":
			w = a.Value
		case "height":
			h = a.Value
		}
	}
	const four = 4
	if parts := strings.Fields(strings.ReplaceAll(box, ",", " ")); len(parts) == four {
		w, h = parts[2], parts[3]
	}
	side := func(s string) int {
		f, err := strconv.ParseFloat(strings.TrimSuffix(s, "px"), 64)
		if err != nil || f != f || f < 0 || f > maxLogoSide {
			return 0
		}
		return max(int(f), 1)
	}
	width, height = side(w), side(h)
	return width, height, width > 0 && height > 0
}

// Path returns the path of the logo.
func (l *Logo) Path() string {
	if l.Type == typeSVG {
		return PathLogoSVG
	}
	return PathLogoPNG
}

// element returns the img element of the logo on a page below a base path. Its dimensions avoid a layout
// shift. Its alternative text is empty, since the name of the site is beside it.
func (l *Logo) element(base string) template.HTML {
	if l == nil {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<img src="%s" width="%d" height="%d" alt="">`, //nolint:gosec // escaped
		template.HTMLEscapeString(base+l.Path()), l.width, l.height))
}

// PathOpenSearch is the path of the OpenSearch description, and OpenSearchType its media type.
const (
	PathOpenSearch = "/opensearch.xml"
	OpenSearchType = "application/opensearchdescription+xml"
)

// openSearch is an OpenSearch description document: OpenSearch 1.1 draft 6, section 4.2.
type openSearch struct {
	XMLName     xml.Name `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName   string   `xml:"ShortName"`
	Description string   `xml:"Description"`
	Encoding    string   `xml:"InputEncoding"`
	URL         struct {
		Type     string `xml:"type,attr"`
		Template string `xml:"template,attr"`
	} `xml:"Url"`
}

// OpenSearch returns the OpenSearch description of the server at a base, an absolute URL without a trailing
// slash, in the language of the site.
func (d *Design) OpenSearch(base string) ([]byte, error) {
	// The maximum number of characters by section 4.2. Browsers ignore a longer name.
	const mostName, mostDescription = 16, 1024
	w := d.In(d.site.Language)
	welcome := d.site.Texts[d.site.Language].Welcome
	if welcome == "" {
		welcome = w.Text("home.welcome")
	}
	document := openSearch{
		ShortName: cut(w.name(), mostName), Description: cut(welcome, mostDescription),
		Encoding: "UTF-8",
	}
	document.URL.Type, document.URL.Template = Type, base+"/?uri={searchTerms}"
	text, err := xml.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("OpenSearch: %w", err)
	}
	return append([]byte(xml.Header), text...), nil
}

// cut returns the first characters of a text.
func cut(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}

// search returns the attributes of the link to the OpenSearch description: OpenSearch section 4.6.1.
func (w Writer) search() template.HTMLAttr {
	title := template.HTMLEscapeString(w.name())
	return template.HTMLAttr(`type="` + OpenSearchType + `" title="` + title + `" ` + string(w.href(PathOpenSearch))) //nolint:gosec // escaped
}
