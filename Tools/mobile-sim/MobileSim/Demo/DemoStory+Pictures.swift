internal import Foundation
internal import MobileClient

/// The second half of the story: one portrait in six styles, told by six pushes with a picture.
extension DemoStory {
    func tellPictures(on phone: DemoPhone) async throws {
        begin("4. A has pictures made", isShown: true)
        let templates = try await phone.client.images.templates()
        guard templates.count >= 6 else { throw Difference(description: "there are \(templates.count) templates") }
        let started = Date()
        var orders: [ImagesClient.Job] = []
        // All are asked for at once; the process that asked may drop them.
        for template in templates {
            orders.append(try await phone.client.images.process(file: photos.portrait, template: template.id))
        }
        let jobs = try await accepted(orders.count, on: phone)
        let milliseconds = Int(Date().timeIntervalSince(started) * 1_000)
        step(
            "POST /v1/images/process", console.green("202") + " \(jobs.count) jobs " + console.dim("(\(milliseconds) ms)"))
        async let told = pushes(about: jobs, to: phone)
        var pictures: [(name: String, file: URL)] = []
        for (order, template) in zip(orders, templates) { pictures.append(try await picture(order, template, on: phone)) }
        let pushes = try await told
        try expect(
            "the jobs that were told", jobs.sorted().joined(separator: " "),
            pushes.map { $0.data["jobId"] ?? "" }.sorted().joined(separator: " "))
        try await showLast(pushes, since: started, on: phone)
        try joinPictures(pictures)
        for push in pushes { console.result("  \(Self.clock(push.receivedAt))  \(push.title): \(push.body)") }
    }

    /// The ids of the jobs, once the API has accepted all.
    private func accepted(_ count: Int, on phone: DemoPhone) async throws -> [String] {
        try await within(patience, "the answers to the orders") {
            while phone.network.exchanges("POST", "/images/process").count < count { try await Task.sleep(for: .milliseconds(20)) }
        }
        let answers = phone.network.exchanges("POST", "/images/process")
        for answer in answers {
            try expect("the answer", "202 pending", "\(answer.answer.status) \(answer.data["status"] as? String ?? "")")
        }
        return answers.compactMap { $0.data["job_id"] as? String }
    }

    /// One order, to its picture in a file.
    private func picture(
        _ order: ImagesClient.Job, _ template: PictureTemplate, on phone: DemoPhone
    ) async throws -> (name: String, file: URL) {
        let end = try await within(patience * 2, "the job's end (\(template.id))") {
            for await update in phone.client.images.updates(of: order.id) { if update.outcome != nil { return update } }
            throw Difference(description: "the order is not known any more")
        }
        guard case .completed(let picture)? = end.outcome, let job = end.jobID else {
            throw Difference(description: "the job's status (\(template.id)) should be 'completed' but is '\(end.state)'")
        }
        let file = scratch.appending(path: "\(order.id.uuidString).jpg")
        // The address is enough: it is signed, and ends.
        guard let link = picture.imageURL.flatMap({ URL(string: $0) }) else { throw Difference(description: "the picture has no address") }
        let answer = try await phone.network.download(TransportRequest("GET", link), to: file, maxBytes: 32 << 20)
        try expect("the answer at the picture's address", "200", "\(answer.status)")
        let metadata = phone.network.exchanges("GET", "/jobs/\(job)").compactMap { exchange in
            (exchange.data["result"] as? [String: Any])?["metadata"] as? [String: Any]
        }.last
        let model = metadata?["modelUsed"] as? String ?? "?", time = metadata?["generationTimeMs"] as? Int ?? 0
        step(
            template.id,
            console.green("completed") + " \(picture.width ?? 0) × \(picture.height ?? 0), \(model), \(time) ms")
        return (picture.templateName ?? template.name, file)
    }

    /// The pushes about jobs, each brought to the app as it comes.
    private func pushes(about jobs: [String], to phone: DemoPhone) async throws -> [EmulatorControl.Push] {
        let deadline = ContinuousClock.now + .seconds(patience * 2)
        var brought: Set<String> = []
        while true {
            let pushes = try await emulator.pushes(to: phone.token, wait: 1).filter { $0.data["kind"] == "job_completed" }
            for push in pushes where brought.insert(push.data["jobId"] ?? "").inserted { await phone.bring(push) }
            if pushes.count >= jobs.count || .now > deadline { return pushes }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func showLast(_ pushes: [EmulatorControl.Push], since start: Date, on phone: DemoPhone) async throws {
        guard let push = pushes.last, let link = push.picture.flatMap({ URL(string: $0) }) else {
            throw Difference(description: "the push has no picture")
        }
        let answer = try await phone.network.send(TransportRequest("GET", link), maxBytes: 8 << 20)
        try expect("the push's picture", "200 image/jpeg", "\(answer.status) \(answer.headers["Content-Type"] ?? "")")
        try answer.body.write(to: output.appending(path: "thumbnail.jpg"))
        try expect("the push's title", "Image Ready! 🎨", push.title)
        show(push, Self.milliseconds(from: start, to: push.receivedAt))
    }

    /// Has the pictures joined into one file.
    private func joinPictures(_ pictures: [(name: String, file: URL)]) throws {
        let count = "\(pictures.count) pictures, one push each."
        guard let contactSheet else { return console.result(count) }
        let sheet = URL(fileURLWithPath: output.path).appending(path: "contact-sheet.jpg").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: contactSheet)
        process.arguments =
            [sheet, "4", "Original=\(photos.portrait.path)"] + pictures.map { "\($0.name)=\($0.file.path)" }
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Difference(description: "no contact sheet") }
        console.result("\(count) Side by side: \(sheet)")
    }
}
