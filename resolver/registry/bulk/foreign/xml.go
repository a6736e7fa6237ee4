package foreign

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// xmlElements reads elements of a document of XML, whatever is around them.
type xmlElements struct {
	input   *boundedReader
	decoder *xml.Decoder
	depth   int
	passed  func(xml.StartElement) // is called with each element that is passed; nil is not
}

// maxDepth is how deep the elements of a document may be.
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
				return 0, fmt.Errorf("its elements are more than %d deep", maxDepth)
			}
		case xml.EndElement:
			e.depth--
		}
	}
}

// invalid returns an error of decoding, and what to do where it is one of bytes.
func (e *xmlElements) invalid(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) && syntax.Msg == "invalid UTF-8" {
		return fmt.Errorf("line %d: it has bytes that are not valid in the encoding of the document: declare the encoding of the source in it, "+
			"or name it (--encoding), such as windows-1252", syntax.Line)
	}
	return err
}

// unknownXML are the attributes and elements that an element of a foreign format has beside those that are read.
type unknownXML struct {
	Attributes []xml.Attr   `xml:",any,attr"`
	Elements   []unknownTag `xml:",any"`
}

type unknownTag struct {
	XMLName xml.Name
}

// names returns the names of both, behind that of their element.
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

// elementNames returns the names of the elements alone.
func (u *unknownXML) elementNames(element string) []string {
	names := make([]string, 0, len(u.Elements))
	for _, e := range u.Elements {
		names = append(names, element+"."+e.XMLName.Local)
	}
	return names
}
