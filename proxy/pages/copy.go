package pages

import (
	_ "embed"
	"html/template"
)

// PathCopy is the path of the script by which buttons copy, on the page about a name.
const PathCopy = "/copy.js"

//go:embed copy.js
var copyScript []byte

// CopyScript returns the script. The caller must not change it.
func CopyScript() []byte { return copyScript }

// copyButton is a button that copies what an element says.
type copyButton struct {
	Of string // the ID of the element
}

// copies returns the attribute of the script, "" where a page is at a host that has no document of this server.
func (w Writer) copies(at place) template.HTMLAttr {
	if at != here {
		return ""
	}
	return template.HTMLAttr(`src="` + template.HTMLEscapeString(w.design.Path(PathCopy)) + `"`) //nolint:gosec // escaped
}

// Copy returns the button for an element of the page.
func (p *namePage) Copy(of string) copyButton { return copyButton{of} }
