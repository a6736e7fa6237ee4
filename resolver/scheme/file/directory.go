package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// directory is an open directory below a root.
type directory struct {
	root  *os.Root
	file  *os.File
	name  string // relative to the root
	place place
}

// batch is the number of entries per ReadDir call.
const batch = 256

// list returns the listing of a directory, truncated at the limits.
func (h *Handler) list(ctx context.Context, d directory) (*scheme.Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.Limits.Timeout)
	defer cancel()
	l := &scheme.Listing{
		Kind: scheme.KindDirectory, Title: scheme.DecodeText(d.place.path),
		URI: urlOf(d.place.path, true),
	}
	seen, size := 0, int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading the directory: %w", err)
		}
		entries, err := d.file.ReadDir(batch)
		for _, entry := range entries {
			if seen, size = seen+1, size+int64(len(entry.Name())); seen > h.config.Limits.Entries ||
				size > h.config.Limits.Bytes {
				l.Incomplete = "only part of the directory is shown: it exceeds the limit of entries"
				break
			}
			if item, ok := d.item(entry); ok {
				l.Items = append(l.Items, item)
			}
		}
		if errors.Is(err, io.EOF) || l.Incomplete != "" {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: reading the directory: %w", resolver.ErrUnreachable, withoutPath(err))
		}
	}
	slices.SortFunc(l.Items, inOrder)
	return l, nil
}

// inOrder sorts directories first, then by name.
func inOrder(a, b scheme.Item) int {
	isDir := func(i scheme.Item) int {
		if i.Kind == scheme.ItemDirectory {
			return 0
		}
		return 1
	}
	return cmp.Or(isDir(a)-isDir(b), cmp.Compare(a.Name, b.Name))
}

// item returns a directory entry as an item. ok is false for a hidden entry, and for one removed since ReadDir.
// An entry that cannot be retrieved has no link.
func (d directory) item(entry fs.DirEntry) (item scheme.Item, ok bool) {
	if isHidden(entry.Name()) {
		return scheme.Item{}, false
	}
	item = scheme.Item{Kind: scheme.ItemFile, Name: scheme.DecodeText(entry.Name())}
	info, err := entry.Info()
	if err != nil {
		return scheme.Item{}, false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		name := path.Join(d.name, entry.Name())
		if leadsToHidden(d.root, name) {
			return scheme.Item{}, false
		}
		if info, err = d.root.Stat(name); err != nil {
			item.Kind, item.Note = scheme.ItemLink, "dangling link, or link to outside of the served directory"
			return item, true
		}
	}
	item.Modified = info.ModTime()
	local := path.Join(d.place.path, entry.Name())
	switch {
	case info.IsDir():
		item.Kind, item.URI = scheme.ItemDirectory, urlOf(local, true)
	case info.Mode().IsRegular():
		size := info.Size()
		item.URI, item.Size, item.Type = urlOf(local, false), &size, typeOf(entry.Name())
	default:
		item.Kind, item.Note = scheme.ItemOther, errSpecial.Error()
	}
	return item, true
}

// typeOf returns the media type by the file name, "" if unknown.
func typeOf(name string) string {
	if t := scheme.MediaType(name, nil); t != "application/octet-stream" {
		return t
	}
	return ""
}

// listingOfRoots returns the listing of a directory that contains roots; its other entries are not served.
func listingOfRoots(p place, roots []string) *scheme.Listing {
	l := &scheme.Listing{Kind: scheme.KindDirectory, Title: scheme.DecodeText(p.path), URI: urlOf(p.path, true)}
	for _, root := range slices.Sorted(slices.Values(roots)) {
		l.Items = append(l.Items,
			scheme.Item{Kind: scheme.ItemDirectory, Name: scheme.DecodeText(root), URI: urlOf(root, true)})
	}
	return l
}
