internal import FoundationEssentials

extension FCMMessage {
    /// The most bytes of text and data that FCM documents for a message to one device.
    static let byteCountMax = 4096
    /// The most bytes of the JSON that reaches an Apple device; the limit is 4096, FCM's own keys need the rest.
    static let apnsByteCountMax = 3800

    /// The bytes FCM counts: keys and values of the data, and the texts.
    var byteCount: Int {
        data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } + notification.title.utf8.count
            + notification.body.utf8.count + (apns.options?.image.utf8.count ?? 0)
    }

    func checkSize() throws(FCMError) {
        guard byteCount <= Self.byteCountMax else {
            throw FCMError(.invalidMessage, "the message has \(byteCount) bytes, more than \(Self.byteCountMax)")
        }
        let apns = apnsByteCount
        guard apns <= Self.apnsByteCountMax else {
            throw FCMError(.invalidMessage, "the Apple payload has \(apns) bytes, more than \(Self.apnsByteCountMax)")
        }
    }

    /// The size of the payload as FCM makes it for Apple: aps with the alert, the data beside it.
    private var apnsByteCount: Int {
        struct Rendered: Encodable {
            let aps: APS
            let data: [String: String]
            let image: String?
        }
        var aps = apns.payload.aps
        aps.alert = aps.alert ?? APS.Alert(title: notification.title, body: notification.body)
        let rendered = Rendered(aps: aps, data: data, image: apns.options?.image)
        return (try? JSONEncoder().encode(rendered).count) ?? .max
    }
}
