package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// file is one file of the program: uncompressed, or compressed on first use for clients that accept
// it.
type file struct {
	name, mime, cache string
	load              func() content
}

// content is the content of a file. The tag is of the uncompressed text: weak, because both forms
// have it.
type content struct {
	plain, zipped []byte
	tag           string
	err           error
}

func newFile(name, cache string) *file {
	return &file{name: name, mime: mimes[path.Ext(name)], cache: cache, load: sync.OnceValue(func() content { return read(name) })}
}

func read(name string) content {
	text, err := files.ReadFile(name)
	if err != nil {
		return content{err: err}
	}
	sum := sha256.Sum256(text)
	c := content{plain: text, tag: `W/"` + hex.EncodeToString(sum[:16]) + `"`}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = w.Write(text)                                  // into memory
	if _ = w.Close(); b.Len() < len(text) {
		c.zipped = b.Bytes()
	}
	return c
}

// serve answers the file, or that the client has it already.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	c := f.load()
	if c.err != nil {
		http.Error(w, "the page is missing", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("Cache-Control", f.cache)
	h.Set("ETag", c.tag)
	h.Set("Vary", "Accept-Encoding")
	if hasTag(r.Header.Get("If-None-Match"), c.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := c.plain
	if c.zipped != nil && takesGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = c.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // fails when the client has gone
	}
}

// hasTag reports whether a client's list of tags has one, by the weak comparison.
func hasTag(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// takesGzip reports whether a client accepts gzip: every browser does, without conditions.
func takesGzip(accepts string) bool {
	for one := range strings.SplitSeq(accepts, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(quality), "q="), "0.") != "" || quality == ""
		}
	}
	return false
}
