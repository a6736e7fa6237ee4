package file

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"time"
)

// settled is how long after a change the clock of a file system surely shows another time.
const settled = 2 * time.Second

// validatorsOf returns the entity tag of a file, and when it was modified. The tag is a hash of its size, of
// the times at which its content and its inode were changed, and of the number of the inode, which itself is
// nobody's business. Where the file was changed so shortly before now that another change may not change the
// times, or by its own account later than now, the tag is weak and the time zero: RFC 9110 section 8.8.1. So no client
// puts parts of two versions together.
func validatorsOf(info fs.FileInfo, now time.Time) (etag string, modified time.Time) {
	inode, changed := inodeOf(info)
	modified = info.ModTime()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d", info.Size(), modified.UnixNano(), changed.UnixNano(), inode))
	const enough = 12
	etag = `"` + base64.RawURLEncoding.EncodeToString(sum[:enough]) + `"`
	if now.Sub(modified) < settled || now.Sub(changed) < settled {
		return "W/" + etag, time.Time{}
	}
	return etag, modified
}
