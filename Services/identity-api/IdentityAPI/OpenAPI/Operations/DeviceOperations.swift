internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Push
internal import Storage
internal import WireFormat

extension APIOperation {
    /// The phones of a user, and what their apps say about pushes.
    static let devices: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/users/device-token", id: "registerDevice", area: .people,
            summary: "Registers the app's installation, by `device_token` or `fid`. 202: another user has it until the push "
                + "`possession_check` is answered",
            bearers: [.access], parameters: [.installation],
            body: .json(
                .object(
                    ["platform": .text],
                    optional: [
                        "device_token": .text.orNull, "fid": .text.orNull,
                        "app_version": .text(0...DeviceBody.maxVersionLength).orNull,
                        "locale": .text(0...DeviceBody.maxLocaleLength).orNull,
                    ]), upTo: DeviceController.maxBodyBytes,
                example: ["platform": "ios", "device_token": APIProperty.pushToken, "app_version": "1.2 (3)", "locale": "de-CH"]),
            replies: [
                registered,
                .data(
                    .object(["status": .constant("pending"), "handover_id": .uuid, "expires_in": .count]), status: 202,
                    "The app has to answer a push"),
            ],
            repetition: "yes", handler: { $0.people.devices.register }),
        APIOperation(
            method: .post, path: "/v1/users/device-token/confirm", id: "confirmDevice", area: .people,
            summary: "Answers the push `possession_check`: the installation is this user's", bearers: [.access],
            parameters: [.installation],
            body: .json(.object(["handover_id": .uuid, "nonce": .text]), upTo: DeviceController.maxBodyBytes), replies: [registered],
            errors: [.notFound], repetition: "the same answer", handler: { $0.people.devices.confirm }),
        APIOperation(
            method: .delete, path: "/v1/users/device-token", id: "unregisterDevice", area: .people,
            summary: "Ends the pushes to an installation: the one that the query or the body names, or the sign-in's own",
            bearers: [.access],
            parameters: [
                .installation,
                APIParameter(name: "device_token", place: .query, schema: .text, summary: "The push token"),
                APIParameter(name: "fid", place: .query, schema: .text, summary: "The Firebase installation id"),
            ],
            body: APIBody(
                content: ["application/json": .object(optional: ["device_token": .text.orNull, "fid": .text.orNull])],
                maxBytes: DeviceController.maxBodyBytes, isRequired: false, isLenient: true,
                example: ["device_token": APIProperty.pushToken]),
            replies: [.noContent("There are no pushes to it any more, whatever there was")], handler: { $0.people.devices.unregister }),
        APIOperation(
            method: .put, path: "/v1/users/me/presence", id: "setPresence", area: .people,
            summary: "The conversation that the phone shows, or null: no pushes about it for 45 seconds", bearers: [.access],
            parameters: [.installation],
            body: .json(.object(["conversation_id": .text.orNull]), upTo: PresenceController.maxBodyBytes),
            replies: [
                .data(
                    .object(["conversation_id": .text.orNull, "lease_seconds": .count], optional: ["expires_at": .instant]),
                    "What the phone shows", example: ["expires_at": "2025-10-27T10:00:45Z"])
            ],
            errors: [.deviceNotRegistered, .topicNotFound], handler: { $0.people.presence.put }),
        APIOperation(
            method: .post, path: "/v1/notifications/receipts", id: "recordReceipts", area: .people,
            summary: "What happened to pushes on the phone; each is named by one of the ids", bearers: [.access],
            parameters: [.installation],
            body: .json(
                .array(of: receipt, upTo: ReceiptBody.maxReceipts), upTo: ReceiptController.maxBodyBytes,
                example: [
                    ["event": "opened", "notification_id": "4d3c2b1a-0f9e-4d8c-a7b6-c5d4e3f2a1b0", "at": "2025-10-27T10:00:00Z"]
                ]),
            replies: [.data(.object(["received": .count, "counted": .count]), "How many were counted")],
            repetition: "each counts once", handler: { $0.people.receipts.record }),
    ]

    private static let registered = APIReply.data(
        .object(
            ["installation_id": .uuid, "kind": .one(of: PushTarget.Kind.self)],
            optional: ["platform": .one(of: DeviceBody.platforms.sorted())]),
        "The installation is this user's", example: ["platform": "ios"])

    private static let receipt = JSONSchema.object(
        ["event": .one(of: Receipt.Event.self)],
        optional: [
            "at": .instant.orNull, "notification_id": .uuid.orNull, "message_id": .text.orNull, "job_id": .uuid.orNull,
            "session_id": .uuid.orNull, "event_id": .text.orNull,
        ])
}
