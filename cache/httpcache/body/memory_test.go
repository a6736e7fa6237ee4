package body

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Pooled buffers never leak bytes of one response into another, whatever its size.
func TestSharedBuffers(t *testing.T) {
	var shared Buffers
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				size := [...]int{0, 1, 100, smallBuffer - 1, smallBuffer, 20_000, blockSize, 3*blockSize + 5}[(i+n)%8]
				want := bytes.Repeat([]byte{byte('a' + i)}, size)
				for _, length := range []int64{int64(size), -1} {
					var got bytes.Buffer
					p := PassThrough{Response: &httpmessage.Response{
						Body:          io.NopCloser(bytes.NewReader(want)),
						ContentLength: length,
					}, Buffers: &shared}
					if err := p.SendTo(&got, nil); err != nil || !bytes.Equal(got.Bytes(), want) {
						t.Errorf("%d bytes of length %d: %v, %d", size, length, err, got.Len())
					}
				}
			}
		})
	}
	all.Wait()
}
