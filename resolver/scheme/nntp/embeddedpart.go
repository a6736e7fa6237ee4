package nntp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// embeddedNumber is the prefix of the number of an embedded file: the text of the article is part 1.
const embeddedNumber = "1."

// isEmbeddedNumber reports whether a part number can be that of an embedded file.
func isEmbeddedNumber(number string) bool {
	number, ok := strings.CutPrefix(number, embeddedNumber)
	return ok && !strings.Contains(number, ".")
}

// embeddedItem returns an embedded file as an item of its article.
func (x exchange) embeddedItem(number int, file embedded) scheme.Item {
	size := int64(len(file.bytes))
	mediaType := scheme.MediaType(baseName(file.name), nil)
	return scheme.Item{
		Kind: itemKind(mediaType), Name: file.fileName(number), Type: mediaType, Size: &size,
		Note: scheme.DecodeText(file.note),
		URI:  x.target.links.within(uri.NewsQuery{Part: embeddedNumber + strconv.Itoa(number)}),
	}
}

func (f embedded) fileName(number int) string {
	if name := baseName(f.name); name != "" {
		return name
	}
	return "file-" + strconv.Itoa(number)
}

// embedded returns the embedded file that the target names. For a MIME article it returns neither resource nor
// error, and the bytes that it has read.
func (x exchange) embedded(id string, article io.Reader) (*scheme.Resource, []byte, error) {
	var head bytes.Buffer
	e, err := readEntity(&partBound{io.TeeReader(article, &head), maxHeader, maxHeader})
	if err != nil {
		return nil, nil, err
	}
	if !hasEmbedded(e) {
		return nil, head.Bytes(), nil
	}
	limit := x.config.Limits.Bytes
	data, err := io.ReadAll(io.LimitReader(io.MultiReader(&head, article), limit+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading an article: %w", err)
	}
	_, files := detach(data)
	number, _ := strconv.Atoi(strings.TrimPrefix(x.target.query.Part, embeddedNumber)) // package uri has parsed it
	switch {
	case number <= len(files):
		file := files[number-1]
		kind := scheme.MediaType(baseName(file.name), file.bytes[:min(len(file.bytes), scheme.SniffLength)])
		fields := httpmessage.NewFields("Content-Type", kind, "Content-Disposition", disposition(file.fileName(number)))
		resource := x.stream(id, bytes.NewReader(file.bytes), fields)
		if resource.Status == http.StatusOK {
			resource.ContentLength = int64(len(file.bytes))
			resource.Fields.Set("Content-Length", strconv.Itoa(len(file.bytes)))
		}
		return resource, nil, nil
	case int64(len(data)) > limit:
		return nil, nil, scheme.PolicyDenial(http.StatusBadGateway, "article_long",
			fmt.Sprintf("article exceeds %d bytes; the source is "+
				"complete", limit), "Number", strconv.FormatInt(limit, 10))
	default:
		return nil, nil, errPart()
	}
}
