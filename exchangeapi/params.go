package exchangeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"gatewayd/vite/core"
)

const (
	maxQuery  = 8192  // bytes of a complete query string: room for a list of symbols
	maxBody   = 16384 // bytes of a complete body
	maxValue  = 4096  // bytes of one parameter
	maxParams = 64
)

// params are the parameters of one request, as text, exactly as received. Each name occurs once.
type params struct {
	query, body map[string]string
}

// readParams reads query string and body. Clients put parameters of POST and DELETE into the query
// string, a form or a flat JSON object (docs/exchange-rest.md 1.1), whatever the content type.
// Some tools use multipart. The body of a GET is not read.
func readParams(r *http.Request) (params, error) {
	if len(r.URL.RawQuery) > maxQuery {
		return params{}, reject(codeParameter, "The query string is too long")
	}
	query, err := readForm(r.URL.RawQuery)
	if err != nil {
		return params{}, err
	}
	p := params{query: query}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return p, nil
	}
	if p.body, err = readBody(r); err != nil {
		return params{}, err
	}
	for name := range p.body {
		if _, twice := p.query[name]; twice {
			return params{}, reject(codeParameter, "Parameter %s stands twice", shown(name))
		}
	}
	return p, nil
}

func readBody(r *http.Request) (map[string]string, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, reject(codeParameter, "The body could not be read").because(err)
	case len(text) > maxBody:
		return nil, &apiError{code: codeParameter, msg: "The body is too large", http: http.StatusRequestEntityTooLarge}
	}
	text = bytes.TrimSpace(text)
	media, with, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isJSON := err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
	switch {
	case len(text) == 0:
		return nil, nil
	case text[0] == '{' || isJSON && !bytes.Contains(text, []byte("=")): // a form with the content type of JSON is a form
		return readObject(text)
	case err == nil && media == "multipart/form-data":
		return readParts(text, with["boundary"])
	}
	return readForm(string(text))
}

// readParts reads the form that browsers and tools send when they are asked for form data.
func readParts(text []byte, boundary string) (map[string]string, error) {
	if boundary == "" || !bytes.HasSuffix(text, []byte("--"+boundary+"--")) { // it was cut: the library takes some cuts for the end
		return nil, reject(codeParameter, "The parameters are malformed")
	}
	out := map[string]string{}
	r := multipart.NewReader(bytes.NewReader(text), boundary)
	for {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, reject(codeParameter, "The parameters are malformed")
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, reject(codeParameter, "The parameters are malformed")
		}
		if err := put(out, part.FormName(), string(value)); err != nil {
			return nil, err
		}
	}
}

// put adds a parameter that is not present yet.
func put(out map[string]string, name, value string) error {
	if _, twice := out[name]; twice || len(out) >= maxParams {
		return reject(codeParameter, "Parameter %s stands twice", shown(name))
	}
	out[name] = value
	return checkLength(name, value)
}

func readForm(text string) (map[string]string, error) {
	values, err := url.ParseQuery(text)
	if err != nil || len(values) > maxParams {
		return nil, reject(codeParameter, "The parameters are malformed")
	}
	out := make(map[string]string, len(values))
	for name, v := range values {
		if len(v) > 1 {
			return nil, reject(codeParameter, "Parameter %s stands twice", shown(name))
		}
		if err := checkLength(name, v[0]); err != nil {
			return nil, err
		}
		out[name] = v[0]
	}
	return out, nil
}

// readObject reads a flat JSON object. Numbers keep their original text, because that text was
// signed.
func readObject(text []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	out := map[string]string{}
	err := readMembers(d, out)
	var rejected *apiError
	if errors.As(err, &rejected) {
		return nil, rejected
	}
	if err != nil {
		return nil, reject(codeParameter, "The body is no flat JSON object")
	}
	return out, nil
}

func readMembers(d *json.Decoder, out map[string]string) error {
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("no object: %w", err)
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // a member's name is a string, or Token has failed
		value, err := d.Token()
		if err != nil {
			return err
		}
		if _, nested := value.(json.Delim); nested || value == nil {
			return reject(codeParameter, "Parameter %s: a string is wanted", shown(name))
		}
		if err := put(out, name, fmt.Sprint(value)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

func checkLength(name, value string) error {
	if len(name) > maxValue || len(value) > maxValue {
		return reject(codeParameter, "Parameter %s is too long", shown(name))
	}
	return nil
}

// shown keeps a client's own text in an answer short and harmless.
func shown(text string) string {
	if len(text) > 40 {
		text = text[:40]
	}
	return strings.ToValidUTF8(text, "?")
}

// get is a parameter from wherever it came; "" when it is absent.
func (p params) get(name string) string {
	if v, ok := p.query[name]; ok {
		return v
	}
	return p.body[name]
}

// required is a parameter that must not be absent or empty.
func (p params) required(name string) (string, error) {
	v := p.get(name)
	if v == "" {
		return "", reject(codeParameter, "Parameter %s is missing", name)
	}
	return v, nil
}

// number parses an integer between least and most in plain digits. It returns absent if the
// parameter is missing.
func (p params) number(name string, absent, least, most int64) (int64, error) {
	text := p.get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.Trim(text, "0123456789") != "" || n < least || n > most {
		return 0, reject(codeParameter, "Invalid %s: a whole number from %d to %d is wanted", name, least, most)
	}
	return n, nil
}

// limit reads how much is wanted. More than the most is cut, not refused: the official bot
// connector asks depth for 1000.
func (p params) limit(absent, most int) (int, error) {
	n, err := p.number("limit", int64(absent), 1, 1<<40)
	return int(min(n, int64(most))), err
}

// maxTime is the latest time that is read: year 9999 in Unix seconds.
const maxTime = 253402300799

// span reads startTime and endTime in Unix seconds; 0 is no bound.
func (p params) span() (start, end int64, err error) {
	if start, err = p.number("startTime", 0, 0, maxTime); err != nil {
		return 0, 0, err
	}
	end, err = p.number("endTime", 0, 0, maxTime)
	return start, end, err
}

// choice reads an optional number from 0 to most; nil when it is absent.
func (p params) choice(name string, most int64) (*int, error) {
	n, err := p.number(name, -1, 0, most)
	if err != nil || n < 0 {
		return nil, err
	}
	v := int(n)
	return &v, nil
}

// address is whom a request is about.
func (p params) address() (core.Address, error) {
	text, err := p.required("address")
	if err != nil {
		return core.Address{}, err
	}
	a, err := core.ParseAddress(text)
	if err != nil {
		return core.Address{}, reject(codeParameter, "Invalid address")
	}
	return a, nil
}

func (p params) hash(name string) (core.Hash, error) {
	text, err := p.required(name)
	if err != nil {
		return core.Hash{}, err
	}
	h, err := core.ParseHash(strings.ToLower(text))
	if err != nil {
		return core.Hash{}, reject(codeParameter, "Invalid %s", name)
	}
	return h, nil
}

// list reads names separated by commas; empty ones are left out.
func (p params) list(name string) []string {
	var out []string
	for part := range strings.SplitSeq(p.get(name), ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
