package file

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"time"
)

// settled is the time after a change when another change certainly gets another timestamp of the file system.
const settled = 2 * time.Second

// validatorsOf returns the entity tag and the modification time of a file. The tag is a hash of its size, its
// modification and change times, and its inode number, which is not disclosed itself. If the file changed so
// recently that another change might keep the timestamps, or if they are in the future, the tag is weak and the
// time zero (RFC 9110 section 8.8.1). So no client combines parts of two versions.
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
