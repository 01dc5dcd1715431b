package import HTTPTypes
package import Hummingbird
package import JSON
import NIOCore

/// The kinds of responses that the emulator gives.
package enum EmulatorAnswer {
    /// JSON in the layout of Google's APIs.
    package static func json(_ value: JSONValue, status: Int = 200, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json; charset=UTF-8"
        return text(value.prettyText, status: status, headers: headers)
    }

    /// The HTML page with which Google's front end answers a request that does not reach the API.
    package static func html(status: Int, retryAfter: String? = nil) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=UTF-8"]
        if let retryAfter { headers[.retryAfter] = retryAfter }
        return text(errorPage(status: status), status: status, headers: headers)
    }

    /// The text of a front end's error page.
    static func errorPage(status: Int) -> String {
        """
        <!DOCTYPE html>
        <html lang=en>
          <meta charset=utf-8>
          <title>Error \(status)</title>
          <p><b>\(status).</b> <ins>That’s an error.</ins>
          <p>The requested URL was not served by this emulator. <ins>That’s all we know.</ins>

        """
    }

    /// An error of the control API.
    package static func problem(_ message: String, status: Int = 400) -> Response {
        json(["error": .string(message)], status: status)
    }

    /// A success without a body.
    package static let noContent = Response(status: .noContent)

    private static func text(_ text: String, status: Int, headers: HTTPFields) -> Response {
        Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension Router {
    /// Adds a route that does something and answers without a body.
    package func delete(_ path: RouterPath, doing action: @escaping @Sendable () -> Void) {
        delete(path) { _, _ in
            action()
            return EmulatorAnswer.noContent
        }
    }
}
