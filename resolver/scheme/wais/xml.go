package wais

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// xmlTitle returns the title in an XML record: that of Dublin Core and similar formats, or of MARCXML.
func xmlTitle(b []byte) string {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = false
	within, is245 := "", false // the open title element, "" outside of it
	var title strings.Builder
	const maxTokens = 2000
	for range maxTokens {
		token, err := d.RawToken()
		if err != nil {
			return ""
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if name == "datafield" {
				is245 = attributeOf(t, "tag") == "245"
			}
			if within == "" && (strings.EqualFold(name, "title") ||
				name == "subfield" && is245 && attributeOf(t, "code") == "a") {
				within = name
			}
		case xml.CharData:
			if within != "" {
				title.Write(t)
			}
		case xml.EndElement:
			if t.Name.Local != within {
				continue
			}
			if within = ""; strings.TrimSpace(title.String()) != "" {
				return title.String()
			}
		}
	}
	return ""
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
