package shop;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.*;
import org.springframework.boot.*;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.data.domain.*;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

// Starts three times: Liquibase and Hibernate find nothing, then what is there already, and then validate it.
@SpringBootApplication
public class Shop {
    static int runs;

    public static void main(String[] args) {
        for (String mode : List.of("update", "update", "validate")) {
            runs++;
            int code = SpringApplication.exit(SpringApplication.run(Shop.class, "--spring.jpa.hibernate.ddl-auto=" + mode));
            if (code != 0) System.exit(code);
        }
    }

    static void check(Object found, Object expected) {
        if (!Objects.equals(found, expected)) throw new AssertionError(found + " is not " + expected);
    }

    @Bean
    CommandLineRunner work(Customers customers, Purchases purchases, Notes notes, PlatformTransactionManager manager) {
        return args -> {
            TransactionTemplate transaction = new TransactionTemplate(manager);
            transaction.executeWithoutResult(status -> {
                Customer customer = new Customer();
                customer.name = "Ada";
                customer.email = "ada" + runs + "@example.org";
                customer.active = true;
                customers.save(customer);
                Purchase purchase = new Purchase();
                purchase.id = UUID.randomUUID();
                purchase.customer = customer;
                purchase.amount = new BigDecimal("12.50");
                purchases.save(purchase);
                Note note = new Note();
                note.title = "note";
                note.kind = Kind.LONG;
                note.tags = new ArrayList<>(List.of("a", "b"));
                note.day = LocalDate.of(2024, 2, 29);
                note.ratio = 1.5;
                notes.save(note);
            });
            transaction.executeWithoutResult(status -> {
                check(customers.findByNameContainingIgnoreCase("AD").size(), runs);
                check(customers.findAll(PageRequest.of(0, 1, Sort.by("name").descending())).getContent().size(), 1);
                check(purchases.total(), new BigDecimal("12.50").multiply(BigDecimal.valueOf(runs)));
                Note note = notes.findAll().get(0);
                check(List.copyOf(note.tags), List.of("a", "b"));
                check(note.day, LocalDate.of(2024, 2, 29));
                purchases.findLocked().note = "changed";
            });
            transaction.executeWithoutResult(status -> check(purchases.findLocked().note, "changed"));
            check(customers.count(), 1L + runs);
        };
    }
}
