package foreign

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// xmlElements reads elements with a given name from an XML document, at any depth.
type xmlElements struct {
	input   *boundedReader
	decoder *xml.Decoder
	depth   int
	passed  func(xml.StartElement) // called with each skipped element; may be nil
}

// maxDepth bounds the nesting of a document.
const maxDepth = 100

func newXMLElements(in *Input) *xmlElements {
	e := &xmlElements{input: &boundedReader{r: in, left: maxEntry}}
	e.decoder = xml.NewDecoder(e.input)
	e.decoder.CharsetReader = in.CharsetReader
	return e
}

// next decodes the next element with a name, and returns its line; io.EOF after the last one.
func (e *xmlElements) next(name string, into any) (line int64, err error) {
	for {
		e.input.left = maxEntry
		token, err := e.decoder.Token()
		if err != nil {
			return 0, e.invalid(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == name {
				line, _ := e.decoder.InputPos()
				return int64(line), e.invalid(e.decoder.DecodeElement(into, &t))
			}
			if e.passed != nil {
				e.passed(t)
			}
			if e.depth++; e.depth > maxDepth {
				return 0, fmt.Errorf("elements nested more than %d deep", maxDepth)
			}
		case xml.EndElement:
			e.depth--
		}
	}
}

// invalid adds advice to a decoding error that is caused by invalid UTF-8.
func (e *xmlElements) invalid(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) && syntax.Msg == "invalid UTF-8" {
		return fmt.Errorf("line %d: bytes invalid in the encoding of the document: declare the encoding of the "+
			"source in it, "+
			"or set it (--encoding), such as windows-1252", syntax.Line)
	}
	return err
}

// unknownXML collects the unmapped attributes and elements of an element.
type unknownXML struct {
	Attributes []xml.Attr   `xml:",any,attr"`
	Elements   []unknownTag `xml:",any"`
}

type unknownTag struct {
	XMLName xml.Name
}

// names returns the names of the attributes and elements, prefixed by the element. It omits declarations of
// namespaces and schemas.
func (u *unknownXML) names(element string) []string {
	names := u.elementNames(element)
	for _, a := range u.Attributes {
		isSchema := a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Local == "schemaLocation"
		if !isSchema && strings.TrimSpace(a.Value) != "" {
			names = append(names, element+"@"+a.Name.Local)
		}
	}
	return names
}

// elementNames returns the names of the elements, without attributes.
func (u *unknownXML) elementNames(element string) []string {
	names := make([]string, 0, len(u.Elements))
	for _, e := range u.Elements {
		names = append(names, element+"."+e.XMLName.Local)
	}
	return names
}
