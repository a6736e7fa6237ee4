package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// The digest of a backup is in a file beside it, in the format of sha256sum(1), so that it can be verified
// without urnd.

// DigestFile returns the path of the digest file of a backup.
func DigestFile(backup string) string { return backup + ".sha256" }

// maxDigestFile limits the length of a digest file, in bytes: a line with a digest and a path.
const maxDigestFile = 8 << 10

// CheckDigest compares a backup with its digest, if there is a digest file. The error is registry.ErrDamaged if
// they differ.
func CheckDigest(ctx context.Context, backup string) error {
	f, err := os.Open(backup) //nolint:gosec // the path is an argument of the command
	if err != nil {
		return fmt.Errorf("opening a backup: %w", err)
	}
	defer f.Close()
	return copyChecked(ctx, io.Discard, f, backup)
}

// copyChecked copies a backup, and compares it with its digest, if there is a digest file.
func copyChecked(ctx context.Context, to io.Writer, from io.Reader, backup string) error {
	want, err := readDigest(backup)
	if err != nil {
		return err
	}
	is, err := digestOf(ctx, io.TeeReader(from, to))
	if err != nil {
		return fmt.Errorf("reading %s: %w", backup, err)
	}
	if want != nil && !bytes.Equal(want, is[:]) {
		return fmt.Errorf("%w: %s is damaged: its SHA-256 is %x, %s has %x: use another backup",
			registry.ErrDamaged, backup, is, DigestFile(backup), want)
	}
	return nil
}

// digestOf returns the SHA-256 of the content of a reader.
func digestOf(ctx context.Context, r io.Reader) (digest [sha256.Size]byte, err error) {
	hash := sha256.New()
	for {
		_, err := io.CopyN(hash, r, backupPages*pageSize)
		switch {
		case errors.Is(err, io.EOF):
			return [sha256.Size]byte(hash.Sum(nil)), nil
		case err != nil:
			return digest, err
		case ctx.Err() != nil:
			return digest, ctx.Err()
		}
	}
}

// readDigest returns the digest of a backup, nil if there is no digest file.
func readDigest(backup string) ([]byte, error) {
	file := DigestFile(backup)
	f, err := os.Open(file) //nolint:gosec // beside the backup of the command
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the digest of a backup: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDigestFile))
	if err != nil {
		return nil, fmt.Errorf("reading the digest of a backup: %w", err)
	}
	// The file name in the line is not compared: both files may have been renamed together.
	line, rest, _ := strings.Cut(strings.TrimPrefix(string(text), `\`), "\n")
	data, _, _ := strings.Cut(line, " ")
	digest, err := hex.DecodeString(data)
	if err != nil || len(digest) != sha256.Size || rest != "" {
		return nil,
			fmt.Errorf("%w: %s is not one line of sha256sum(1): use another backup, or create the line again if "+
				"this backup is intact",
				registry.ErrDamaged, file)
	}
	return digest, nil
}

// writeDigest writes the digest file of a backup, which belongs to the owner of the directory.
func writeDigest(backup string, digest [sha256.Size]byte) error {
	file := DigestFile(backup)
	temporary := file + ".new"
	f, err := newFile(temporary)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(digestLine(digest, filepath.Base(backup)))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		giveToOwner(f, filepath.Dir(file))
		err = os.Rename(temporary, file)
	}
	if err != nil {
		return errors.Join(err, removed(temporary))
	}
	return nil
}

// digestLine returns the line of sha256sum(1) for a file. A name with a backslash or a line break is escaped,
// which a leading backslash indicates.
func digestLine(digest [sha256.Size]byte, name string) string {
	escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
	mark := ""
	if escaped != name {
		mark = `\`
	}
	return fmt.Sprintf("%s%x  %s\n", mark, digest, escaped)
}
