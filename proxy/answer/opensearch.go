package answer

import (
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
)

// OpenSearch returns the OpenSearch description of the server at a base, for a request with these fields.
func OpenSearch(base string, design *pages.Design, header httpmessage.Header) (message.Reply, error) {
	text, err := design.OpenSearch(base)
	if err != nil {
		return message.Reply{}, err
	}
	return NewStatic(pages.OpenSearchType, text).Reply(header), nil
}
