package console

import (
	"context"
	"fmt"
	"net/http"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// maxProfile bounds the time of a CPU profile, in seconds. It is below the listener's time for an
// answer.
const maxProfile = 8

// profile answers a profile of this process for `go tool pprof`: what takes its CPU for some
// seconds from now, or one of the Go runtime's own profiles. They contain names of functions and
// counts, no values.
func (c *Console) profile(r request) error {
	name := r.Param("name")
	if name == "cpu" {
		return c.profileCPU(r)
	}
	p := pprof.Lookup(name)
	if p == nil {
		return refusal(http.StatusNotFound, "there is no such profile: cpu, heap, allocs, goroutine, threadcreate, block and mutex are")
	}
	answerProfile(r, name)
	return p.WriteTo(r.Response(), 0)
}

func (c *Console) profileCPU(r request) error {
	seconds, err := maxProfile, error(nil)
	if text := r.QueryParam("seconds"); text != "" {
		seconds, err = strconv.Atoi(text)
	}
	if err != nil || seconds < 1 || seconds > maxProfile {
		return refusal(http.StatusBadRequest, fmt.Sprintf("seconds: a number from 1 to %d", maxProfile))
	}
	select {
	case c.profiles <- struct{}{}:
	default:
		return refusal(http.StatusConflict, "another CPU profile is being taken")
	}
	defer func() { <-c.profiles }()
	answerProfile(r, "cpu")
	if err := pprof.StartCPUProfile(r.Response()); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	ctx, cancel := context.WithTimeout(r.Request().Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	<-ctx.Done()
	return nil
}

func answerProfile(r request, name string) {
	r.Response().Header().Set(echo.HeaderContentType, echo.MIMEOctetStream)
	r.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`.pprof"`)
}
