internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Push
internal import WireFormat

extension APIOperation {
    /// The phones of a user.
    static let devices: [APIOperation] = [
        APIOperation(
            .post, "/v1/users/device-token", id: "registerDevice", area: .people,
            summary: "Registers the app's installation, by `device_token` or `fid`. 202: another user has it until the push "
                + "`possession_check` is answered",
            from: .user(.registrations),
            reply: .either(.registeredDevice, .data("The app has to answer a push", status: .accepted)), repetition: "yes",
            handler: { $0.people.devices.register }),
        APIOperation(
            .post, "/v1/users/device-token/confirm", id: "confirmDevice", area: .people,
            summary: "Answers the push `possession_check`: the installation is this user's", from: .user(.registrations),
            reply: .registeredDevice, errors: [.notFound], repetition: "the same answer", handler: { $0.people.devices.confirm }),
        APIOperation(
            .delete, APITarget("/v1/users/device-token", .namedDevice), id: "unregisterDevice", area: .people,
            summary: "Ends the pushes to an installation: the one that the query or the body names, or the sign-in's own",
            from: .user(.registrations), reply: .noContent("There are no pushes to it any more, whatever there was"),
            handler: { $0.people.devices.unregister }),
    ]
}

extension APIResult<PushInstall> {
    fileprivate static let registeredDevice = data("The installation is this user's", example: ["platform": "ios"])
}
