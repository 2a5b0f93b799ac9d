package main

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Every endpoint but those that serve the description has a page.
func TestEveryEndpointHasAPage(t *testing.T) {
	for _, a := range apis {
		pages, err := a.pages("../..")
		require.NoError(t, err)
		doc, err := openapi3.NewLoader().LoadFromFile("../../" + a.document)
		require.NoError(t, err)
		for _, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				if !slices.Contains([]string{"description", "description30", "openapi", "openapi30"}, op.OperationID) {
					require.Contains(t, pages, op.OperationID)
				}
			}
		}
	}
}

func TestPages(t *testing.T) {
	gateway, err := apis[0].pages("../..")
	require.NoError(t, err)
	fee := gateway["withdrawFee"]
	for _, want := range []string{
		"# GET /withdraw-fee\n",
		"    curl 'https://host/gateway/eth/withdraw-fee?tokenId=TOKENID&walletAddress=WALLETADDRESS&amount=AMOUNT'\n",
		"| `containsFee` | no | true, false, 1, 0 | ",
		"\"fee\": \"250000\"",
		"| `fee` | ",
		"| 2030 | The network fee is unknown now. Please try again later. (no quote stored yet) |",
		"| 1023 | &#123;field&#125;: must be true or false. |",
	} {
		require.Contains(t, fee, want)
	}
	exchange, err := apis[1].pages("../..")
	require.NoError(t, err)
	place := exchange["placeOrder"]
	for _, want := range []string{
		"# POST /order\n", "signed: it also has `key`", "-X POST 'http://127.0.0.1:8090/api/v2/order' -d 'amount=AMOUNT&", "| `clientOrderId` | no | string | ",
		"| `orderId` | ", "| 1007 | balance too small",
	} {
		require.Contains(t, place, want)
	}
	require.Contains(t, exchange["health"], "curl 'http://127.0.0.1:8090/health'")
	require.NotContains(t, exchange["health"], "## Errors")
}

// An error that the document does not describe fails.
func TestUnknownErrors(t *testing.T) {
	p := page{api: apis[0], method: "GET", path: "/x", op: &openapi3.Operation{Extensions: map[string]any{"x-errors": []int{9999}}, Responses: openapi3.NewResponses()}}
	_, err := p.text(map[string]string{"1001": "The parameter is missing."})
	require.ErrorContains(t, err, "has no error 9999")
}
