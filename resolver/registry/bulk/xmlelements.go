package bulk

import (
	"encoding/xml"
	"errors"
	"fmt"

	"github.com/urnd/urnd/internal/charset"
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

func newXMLElements(source *charset.Source) *xmlElements {
	e := &xmlElements{input: &boundedReader{r: source, left: maxLine}}
	e.decoder = xml.NewDecoder(e.input)
	e.decoder.CharsetReader = source.CharsetReader
	return e
}

// next decodes the next element with a name, and returns its line; io.EOF after the last one.
func (e *xmlElements) next(name string, into any) (line int64, err error) {
	for {
		e.input.left = maxLine
		token, err := e.decoder.Token()
		if err != nil {
			return 0, e.fault(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == name {
				line, _ := e.decoder.InputPos()
				return int64(line), e.fault(e.decoder.DecodeElement(into, &t))
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

// fault returns an error of decoding, and what to do where it is one of bytes.
func (e *xmlElements) fault(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) && syntax.Msg == "invalid UTF-8" {
		return fmt.Errorf("line %d: it has bytes that are not valid in the encoding of the document: declare the encoding of the source in it, "+
			"or name it (--encoding), such as windows-1252", syntax.Line)
	}
	return err
}
