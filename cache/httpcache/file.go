package httpcache

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/cache/httpcache/disk"
)

// errLost means that the disk has lost a content.
var errLost = errors.New("the stored content is lost")

// fileContent is a content on disk.
type fileContent struct{ object *disk.Object }

func (f fileContent) size() int64 { return f.object.Size() }

// memory implements content: that of the object is counted with the response.
func (fileContent) memory() int { return 0 }

func (f fileContent) open(_ context.Context, part span) (Content, error) {
	length := int64(-1)
	if part.end >= 0 {
		length = part.end - part.start
	}
	file, err := f.object.Open(part.start, length)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return openFile{file}, nil
}

// openFile is a part of a content on disk.
type openFile struct{ file io.ReadCloser }

// SendTo implements Content.
func (o openFile) SendTo(w io.Writer, _ func()) error {
	_, err := io.Copy(w, o.file)
	return err
}

// Close implements Content.
func (o openFile) Close() { _ = o.file.Close() }
