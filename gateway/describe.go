package gateway

import (
	"cmp"
	_ "embed"

	"gatewayd/httpserver"
)

//go:embed openapi.yaml
var openapi []byte

// describe is the API's description with the base paths that are served here.
func describe(bases []string) (httpserver.OpenAPI, error) {
	servers := make([]string, len(bases))
	for i, base := range bases {
		servers[i] = cmp.Or(base, "/")
	}
	return httpserver.ReadOpenAPI(openapi, servers)
}
